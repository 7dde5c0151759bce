package dev.weir.lease;

import java.util.Map;
import java.util.Optional;

/**
 * What has been used of a key's plan in a window.
 *
 * @param windowStartMillis by the store's time
 * @param windowEndMillis by the store's time
 * @param nodes processes that counted something of it
 */
public record UsageRecord(
    State state,
    String key,
    String plan,
    long windowStartMillis,
    long windowEndMillis,
    UsageCounts counts,
    long nodes) {

  /** What a record says of its window. */
  public enum State {
    /** So much so far; a later record includes it. */
    OPEN,
    /** All of it, but for what late records add. There is one sealed record of a window. */
    SEALED,
    /** So much more, which came after the window was sealed. */
    LATE
  }

  /** The record that an entry of the stream holds; none if it is not one of ours. */
  static Optional<UsageRecord> of(Map<String, String> entry) {
    String state = entry.getOrDefault("state", "");
    try {
      return switch (state) {
        case "report" -> Optional.of(of(State.OPEN, "all_", entry));
        case "sealed" -> Optional.of(of(State.SEALED, "", entry));
        case "late" -> Optional.of(of(State.LATE, "", entry));
        default -> Optional.empty();
      };
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static UsageRecord of(State state, String prefix, Map<String, String> entry) {
    return new UsageRecord(
        state,
        text(entry, "key"),
        text(entry, "plan"),
        number(entry, "window_start"),
        number(entry, "window_end"),
        new UsageCounts(
            number(entry, prefix + "spent"),
            number(entry, prefix + "degraded"),
            number(entry, prefix + "denied"),
            number(entry, prefix + "would_deny"),
            number(entry, prefix + "authorized")),
        number(entry, prefix + "nodes"));
  }

  private static String text(Map<String, String> entry, String field) {
    return Optional.ofNullable(entry.get(field))
        .orElseThrow(() -> new IllegalArgumentException("no " + field));
  }

  private static long number(Map<String, String> entry, String field) {
    return Long.parseLong(text(entry, field));
  }
}
