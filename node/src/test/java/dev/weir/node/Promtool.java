package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** {@code promtool}, which Prometheus brings to check what it is to read. */
final class Promtool {

  private Promtool() {}

  /** Runs it in {@code directory}; it must find nothing wrong. Aborts where it is not installed. */
  static void accepts(Path directory, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of("promtool"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) {
      Assumptions.abort("promtool is not installed: " + e.getMessage());
      return;
    }
    String told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.onExit().join().exitValue()).as(told).isZero();
  }
}
