package dev.weir.bench;

import io.vertx.core.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The program wrk, with one thread. It knows whole seconds only. */
final class Wrk implements HttpLoad {

  private static final Pattern DONE = Pattern.compile("(\\d+) requests in ([0-9.]+)(s|m),");
  private static final Pattern FAULT = Pattern.compile("(Non-2xx or 3xx|Socket errors).*");
  private static final String SCRIPT = "ask.lua";

  private final Path program;
  private final TemporaryDirectory directory = TemporaryDirectory.make();

  Wrk(Path program) {
    this.program = program;
  }

  @Override
  public String name() {
    return "wrk";
  }

  @Override
  public Load run(int port, Ask ask, Duration length) {
    long seconds = Math.max(1, length.toSeconds());
    List<String> command =
        new ArrayList<>(
            List.of(
                program.toString(),
                "--threads=1",
                "--connections=" + ask.connections(),
                "--duration=" + seconds + "s",
                // It would count answers that take 2 s as errors.
                "--timeout=60s"));
    if (!ask.bodies().isEmpty() || ask.pipelined() > 1) {
      command.add("--script=" + directory.write(SCRIPT, script(ask)));
    }
    command.add("http://127.0.0.1:" + port + ask.path());
    return read(output(command));
  }

  /** Makes all requests once, and then sends several of them at a time. */
  private static String script(Ask ask) {
    List<String> bodies = ask.bodies().isEmpty() ? List.of("") : ask.bodies();
    StringBuilder script = new StringBuilder("local bodies = {\n");
    bodies.forEach(body -> script.append(Json.encode(body)).append(",\n"));
    return script
        .append("}\nlocal asks = {}\nlocal at = 0\nfunction init(arguments)\n")
        .append("  local headers = {[\"Content-Type\"] = \"application/json\"}\n")
        .append("  for i, body in ipairs(bodies) do\n")
        .append("    asks[i] = wrk.format(\"")
        .append(ask.method())
        .append("\", wrk.path, headers, body)\n  end\nend\n")
        .append("function request()\n  local some = {}\n  for i = 1, ")
        .append(ask.pipelined())
        .append(" do\n    at = at % #asks + 1\n    some[i] = asks[at]\n  end\n")
        .append("  return table.concat(some)\nend\n")
        .toString();
  }

  private static String output(List<String> command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      try {
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      } finally {
        process.destroy();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Load read(String output) {
    Matcher done = DONE.matcher(output);
    if (!done.find() || FAULT.matcher(output).find()) {
      throw new IllegalStateException("wrk: " + output);
    }
    double unit = TimeUnit.SECONDS.toNanos(done.group(3).equals("m") ? 60 : 1);
    long nanos = (long) (Double.parseDouble(done.group(2)) * unit);
    return new Load(Long.parseLong(done.group(1)), nanos, Load.noLatencies());
  }

  @Override
  public void close() {
    directory.close();
  }
}
