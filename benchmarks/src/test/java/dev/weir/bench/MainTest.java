package dev.weir.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs all that there is to run, and looks at no figure. */
class MainTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void everythingIsMeasured() {
    assertThat(run("--millis=20", "--rounds=1", "--keys=500")).as(err.toString()).isZero();
    JsonObject results = new JsonObject(out.toString());
    assertThat(results.fieldNames())
        .contains(
            "in_process_vs_floor",
            "http_vs_bare",
            "batch_decisions_per_second",
            "event_bus_checks_per_second",
            "refills_per_second",
            "decisions_per_store_call",
            "bytes_per_key");
    assertThat(results.getJsonObject("in_process").fieldNames())
        .containsExactlyInAnyOrder("oneThread", "twoThreads", "receivedText", "hotKey");
    assertThat(results.getJsonObject("in_process").getJsonObject("oneThread").fieldNames())
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(Contenders.values()).map(Microbenchmarks::side).toList());
    assertThat(results.getJsonObject("latency").getJsonObject("added").fieldNames())
        .containsExactly("p50_ms", "p99_ms", "p99_9_ms");
    assertThat(
            Stream.of(
                "scale",
                "http",
                "many_keys",
                "batch",
                "event_bus",
                "refills",
                "store_calls",
                "hot_key",
                "store_killed",
                "start"))
        .allSatisfy(section -> assertThat(results.getJsonObject(section)).isNotEmpty());
    assertThat(results.getJsonObject("strict").fieldNames())
        .containsExactly("weir", "bucket4j", "vs_bucket4j");
  }

  @Test
  void helpNamesWhatThereIsToMeasure() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString()).startsWith("Usage: weir bench").contains("bytes_per_key");
    assertThat(err.toString()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "--only=speed, --only: must be of in_process",
    "--rounds=0, '--rounds: must be 1 or more, was 0'",
    "--millis=0, '--millis: must be 1 or more, was 0'",
    "--keys=0, '--keys: must be 1 or more, was 0'",
    "--keys=many, Invalid value for option '--keys'",
    "--speed, Unknown option: '--speed'",
  })
  void whatIsWrongIsToldInOneLine(String argument, String reason) {
    assertThat(run(argument)).isEqualTo(2);
    assertThat(err.toString().lines()).singleElement().asString().startsWith("weir: " + reason);
    assertThat(out.toString()).isEmpty();
  }

  private int run(String... arguments) {
    return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
  }
}
