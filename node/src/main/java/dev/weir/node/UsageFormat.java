package dev.weir.node;

import dev.weir.lease.UsageRecord;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** How records of usage are written, a line each. */
enum UsageFormat {
  /** An object in JSON. */
  JSONL {
    @Override
    String head() {
      return "";
    }

    @Override
    String line(UsageRecord record) {
      return new JsonObject(members(record)).encode();
    }
  },

  /** Values separated by commas, quoted as in RFC 4180 where need be. */
  CSV {
    @Override
    String head() {
      return String.join(",", MEMBERS) + "\n";
    }

    @Override
    String line(UsageRecord record) {
      return members(record).values().stream()
          .map(value -> quoted(value.toString()))
          .collect(Collectors.joining(","));
    }
  };

  private static final List<String> MEMBERS =
      List.of(
          "key",
          "plan",
          "window_start",
          "window_end",
          "spent",
          "degraded",
          "authorized",
          "nodes",
          "state");

  /** RFC 3339, always as long as any other. */
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  /** What stands before the first record. */
  abstract String head();

  /** A record, without the end of its line. */
  abstract String line(UsageRecord record);

  /** Milliseconds since the epoch as RFC 3339 has them, in UTC. */
  static String time(long millis) {
    return TIME.format(Instant.ofEpochMilli(millis));
  }

  private static Map<String, Object> members(UsageRecord record) {
    List<Object> values =
        List.of(
            record.key(),
            record.plan(),
            time(record.windowStartMillis()),
            time(record.windowEndMillis()),
            record.counts().spent(),
            record.counts().degraded(),
            record.counts().authorized(),
            record.nodes(),
            record.state().name().toLowerCase(Locale.ROOT));
    Map<String, Object> members = new LinkedHashMap<>();
    for (int i = 0; i < values.size(); i++) {
      members.put(MEMBERS.get(i), values.get(i));
    }
    return members;
  }

  private static String quoted(String text) {
    boolean plain = text.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
    return plain ? text : '"' + text.replace("\"", "\"\"") + '"';
  }
}
