package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.lease.RedisServer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The README's commands do what it says. Every block fenced as {@code sh} is run, in order, in one
 * directory that looks like the checkout. A line with {@code ./weir start} starts a node that runs
 * on to the end; lines that fetch or build ({@code git}, {@code cd}, {@code mvn}, {@code docker},
 * {@code apt}) are the reader's. Well-known ports are replaced by free ones, a Redis of the test
 * listening in the place of 6379.
 *
 * <p>A block fenced as {@code json} or {@code text} right after it is what the last one prints: of
 * JSON, the members and their types, texts and truths; of text, its lines, whatever the numbers.
 */
final class ReadmeIT {

  private record Block(String language, String text) {}

  private static final Pattern FENCE =
      Pattern.compile("(?ms)^```([a-z]*)[^\\n]*\\n(.*?)^```[ \\t]*$");
  private static final Pattern WELL_KNOWN_PORT =
      Pattern.compile("\\b(808\\d|809\\d|570\\d|6379)\\b");
  private static final Pattern READERS_OWN =
      Pattern.compile("(git|cd|mvn|docker|apt|apt-get|sudo|redis-server)\\b.*");
  private static final Pattern NUMBER = Pattern.compile("\\d+(\\.\\d+)?");

  @TempDir Path checkout;

  private final Map<String, String> ports = new HashMap<>();
  private final List<RunningNode> nodes = new ArrayList<>();

  @Test
  void commandsOfTheReadmeWork() throws Exception {
    List<Block> blocks = blocks(Files.readString(Repository.root().resolve("README.md")));
    assertThat(blocks).as("blocks to run").anyMatch(block -> block.language().equals("sh"));
    linkTheTree();
    try (RedisServer redis = RedisServer.start()) {
      ports.put("6379", Integer.toString(redis.port()));
      String output = "";
      for (Block block : blocks) {
        switch (block.language()) {
          case "sh" -> output = run(block.text());
          case "json" -> {
            if (!output.isEmpty()) {
              assertLike(new JsonObject(block.text()), new JsonObject(output), "");
              output = "";
            }
          }
          case "text" -> {
            if (!output.isEmpty()) {
              assertLines(block.text(), output);
              output = "";
            }
          }
          default -> output = "";
        }
      }
      assertThat(nodes).as("nodes started by the README").isNotEmpty();
    } finally {
      nodes.forEach(RunningNode::close);
      unlinkTheTree();
    }
  }

  private static List<Block> blocks(String markdown) {
    Matcher fence = FENCE.matcher(markdown);
    List<Block> blocks = new ArrayList<>();
    while (fence.find()) {
      blocks.add(new Block(fence.group(1), fence.group(2)));
    }
    return blocks;
  }

  /** Data directories of the nodes must not come to lie in the real tree. */
  private void linkTheTree() throws IOException {
    try (Stream<Path> entries = Files.list(Repository.root())) {
      for (Path entry : entries.toList()) {
        String name = entry.getFileName().toString();
        if (!name.equals("data") && !name.equals("weir.yaml")) {
          Files.createSymbolicLink(checkout.resolve(name), entry);
        }
      }
    }
  }

  /** What cleans up must not be tempted to follow a link. */
  private void unlinkTheTree() throws IOException {
    try (Stream<Path> entries = Files.list(checkout)) {
      for (Path entry : entries.filter(Files::isSymbolicLink).toList()) {
        Files.delete(entry);
      }
    }
  }

  /** Runs a block and gives what it prints, if only the line that a node is ready. */
  private String run(String block) throws Exception {
    StringBuilder script = new StringBuilder();
    String ready = "";
    for (String line : block.replace("\\\n", " ").lines().toList()) {
      String command = withoutComment(withFreePorts(line)).strip();
      if (command.contains("./weir start")) {
        ready = startNode(command);
      } else if (!command.isEmpty() && !READERS_OWN.matcher(command).matches()) {
        script.append(command).append('\n');
      }
    }
    if (script.isEmpty()) {
      return ready;
    }
    Process process =
        new ProcessBuilder("bash", "-euo", "pipefail", "-c", script.toString())
            .directory(checkout.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    process.getOutputStream().close();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(script.toString()).isTrue();
    assertThat(process.exitValue()).as("%s%n%s", script, output).isZero();
    return output;
  }

  /** {@code NAME=value ... ./weir start flag ... [&]}. */
  private String startNode(String command) {
    List<String> words =
        new ArrayList<>(Arrays.asList(command.replaceFirst("\\s*&$", "").split("\\s+")));
    Map<String, String> settings = new HashMap<>();
    settings.put("WEIR_HTTP_HOST", "127.0.0.1");
    settings.put("WEIR_HTTP_PORT", freePort("8080"));
    settings.put("WEIR_ADMIN_PORT", freePort("8081"));
    while (!words.get(0).equals("./weir")) {
      String[] setting = words.remove(0).split("=", 2);
      settings.put(setting[0], setting[1]);
    }
    RunningNode node = RunningNode.launch(checkout, settings, words.subList(1, words.size()));
    nodes.add(node);
    return node.awaitReady();
  }

  private String withFreePorts(String line) {
    return WELL_KNOWN_PORT.matcher(line).replaceAll(port -> freePort(port.group()));
  }

  private String freePort(String wellKnown) {
    return ports.computeIfAbsent(wellKnown, port -> Integer.toString(FreePorts.next()));
  }

  private static String withoutComment(String line) {
    return line.replaceFirst("(^|\\s)#\\s.*$", "");
  }

  private static void assertLines(String expected, String output) {
    String seen = NUMBER.matcher(output).replaceAll("0");
    for (String line : expected.strip().lines().toList()) {
      assertThat(seen).containsIgnoringCase(NUMBER.matcher(line.strip()).replaceAll("0"));
    }
  }

  private static void assertLike(JsonObject expected, JsonObject actual, String path) {
    for (String name : expected.fieldNames()) {
      Object want = expected.getValue(name);
      Object got = actual.getValue(name);
      String where = path + "/" + name;
      assertThat(got).as(where).isNotNull();
      if (want instanceof Number) {
        assertThat(got).as(where).isInstanceOf(Number.class);
      } else if (want instanceof JsonObject object) {
        assertLike(object, (JsonObject) got, where);
      } else if (want instanceof JsonArray) {
        assertThat(got).as(where).isInstanceOf(JsonArray.class);
      } else {
        assertThat(got).as(where).isEqualTo(want);
      }
    }
  }
}
