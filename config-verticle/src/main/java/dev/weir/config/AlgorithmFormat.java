package dev.weir.config;

import dev.weir.config.WindowPeriod.CalendarUnit;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Algorithms as they are written in plans: the members {@code algorithm}, {@code token_bucket} if
 * it is left out, and the algorithm's own. The {@code period} of a bucket is {@code 1s} if it is
 * left out, and its {@code capacity} is the rate rounded up, at least 1: a burst of one period's
 * worth.
 */
final class AlgorithmFormat {

  private static final Duration DEFAULT_PERIOD = Duration.ofSeconds(1);
  private static final ZoneId DEFAULT_ZONE = ZoneId.of("UTC");

  private enum Kind {
    TOKEN_BUCKET("token_bucket", "rate, period, capacity"),
    SLIDING_WINDOW("sliding_window", "limit, window"),
    FIXED_WINDOW("fixed_window", "limit, window, zone"),
    SLIDING_LOG("sliding_log", "limit, window");

    private final String wireName;
    private final String members;

    Kind(String wireName, String members) {
      this.wireName = wireName;
      this.members = members;
    }

    static Optional<Kind> of(Object wireName) {
      return Stream.of(values()).filter(kind -> kind.wireName.equals(wireName)).findFirst();
    }

    static String all() {
      return Stream.of(values()).map(kind -> kind.wireName).collect(Collectors.joining(", "));
    }
  }

  private AlgorithmFormat() {}

  /**
   * Reads an algorithm and refuses every member that is then left; empty after an error.
   *
   * @param known members beside those of the algorithm, to be told to who wrote others
   */
  static Optional<Algorithm> read(String path, Members members, String known, Errors errors) {
    Object given =
        members.has("algorithm") ? members.take("algorithm") : Kind.TOKEN_BUCKET.wireName;
    Optional<Kind> kind = Kind.of(given);
    if (kind.isEmpty()) {
      // Its other members belong to an algorithm whose rules are not known here.
      members.refuse("algorithm", "must be one of " + Kind.all() + ", was " + Errors.shown(given));
      return Optional.empty();
    }
    Optional<Algorithm> algorithm = Optional.empty();
    try {
      algorithm =
          switch (kind.get()) {
            case TOKEN_BUCKET -> tokenBucket(members);
            case SLIDING_WINDOW -> slidingWindow(members);
            case FIXED_WINDOW -> fixedWindow(members);
            case SLIDING_LOG -> slidingLog(members);
          };
    } catch (IllegalArgumentException e) {
      errors.add("", path.isEmpty() ? e.getMessage() : path + "." + e.getMessage());
    }
    members.refuseRest(
        known + ", algorithm; of a " + kind.get().wireName + ": " + kind.get().members);
    return algorithm;
  }

  private static Optional<Algorithm> tokenBucket(Members members) {
    OptionalDouble rate = members.number("rate");
    Optional<Duration> period =
        members.has("period") ? members.duration("period") : Optional.of(DEFAULT_PERIOD);
    OptionalLong capacity =
        members.has("capacity")
            ? members.whole("capacity", 0, Algorithm.MAX_QUOTA)
            : OptionalLong.of(defaultCapacity(rate.orElse(1)));
    if (rate.isPresent() && period.isEmpty() && rate.getAsDouble() <= 0) {
      // Wrong whatever the period is; how large it may be depends on that.
      members.refuse("rate", "must be above 0, was " + number(rate.getAsDouble()));
    }
    if (rate.isEmpty() || period.isEmpty()) {
      return Optional.empty();
    }
    // Made even without a good capacity, so that what is wrong with rate and period is said too.
    Algorithm bucket = new TokenBucket(rate.getAsDouble(), period.get(), capacity.orElse(0));
    return Optional.of(bucket).filter(made -> capacity.isPresent());
  }

  private static long defaultCapacity(double rate) {
    return (long) Math.min(Algorithm.MAX_QUOTA, Math.max(1, Math.ceil(rate)));
  }

  private static Optional<Algorithm> slidingWindow(Members members) {
    OptionalLong limit = limit(members);
    Optional<Algorithm> made =
        members.duration("window").map(window -> new SlidingWindow(limit.orElse(0), window));
    return made.filter(algorithm -> limit.isPresent());
  }

  private static Optional<Algorithm> slidingLog(Members members) {
    OptionalLong limit = limit(members);
    Optional<Algorithm> made =
        members.duration("window").map(window -> new SlidingLog(limit.orElse(0), window));
    return made.filter(algorithm -> limit.isPresent());
  }

  private static Optional<Algorithm> fixedWindow(Members members) {
    OptionalLong limit = limit(members);
    Optional<Algorithm> made =
        period(members).map(period -> new FixedWindow(limit.orElse(0), period));
    return made.filter(algorithm -> limit.isPresent());
  }

  private static OptionalLong limit(Members members) {
    return members.whole("limit", 0, Algorithm.MAX_QUOTA);
  }

  private static Optional<WindowPeriod> period(Members members) {
    if (members.isMissing("window")) {
      // Whether there may be a zone depends on the window.
      members.take("zone");
      return Optional.empty();
    }
    Object window = members.take("window");
    for (CalendarUnit unit : CalendarUnit.values()) {
      if (unit.wireName().equals(window)) {
        return zone(members).map(zone -> new WindowPeriod.Calendar(unit, zone));
      }
    }
    if (members.has("zone")) {
      members.refuse("zone", "is for a window of a day, month or year");
    }
    Duration length;
    try {
      length = Durations.parse(window instanceof String text ? text : Errors.shown(window));
    } catch (IllegalArgumentException e) {
      members.refuse(
          "window",
          "must be day, month, year, or a whole number with a unit like 500ms, 1s, 1m, 1h or 1d,"
              + " was "
              + Errors.shown(window));
      return Optional.empty();
    }
    return Optional.of(new WindowPeriod.Every(length));
  }

  private static Optional<ZoneId> zone(Members members) {
    if (!members.has("zone")) {
      return Optional.of(DEFAULT_ZONE);
    }
    Object zone = members.take("zone");
    try {
      if (zone instanceof String name) {
        return Optional.of(ZoneId.of(name));
      }
    } catch (DateTimeException e) {
      // Refused below, as what is no text is.
    }
    members.refuse(
        "zone", "must be a time zone like Europe/Berlin or UTC, was " + Errors.shown(zone));
    return Optional.empty();
  }

  /** Writes {@code algorithm}; {@link #read} reads it back. */
  static Map<String, Object> format(Algorithm algorithm) {
    Map<String, Object> members = new LinkedHashMap<>();
    if (algorithm instanceof TokenBucket bucket) {
      members.put("algorithm", Kind.TOKEN_BUCKET.wireName);
      members.put("rate", number(bucket.rate()));
      members.put("period", Durations.format(bucket.period()));
      members.put("capacity", bucket.capacity());
    } else if (algorithm instanceof SlidingWindow window) {
      putWindow(members, Kind.SLIDING_WINDOW, window.limit(), Durations.format(window.window()));
    } else if (algorithm instanceof SlidingLog log) {
      putWindow(members, Kind.SLIDING_LOG, log.limit(), Durations.format(log.window()));
    } else if (algorithm instanceof FixedWindow fixed) {
      if (fixed.period() instanceof WindowPeriod.Calendar calendar) {
        putWindow(members, Kind.FIXED_WINDOW, fixed.limit(), calendar.unit().wireName());
        members.put("zone", calendar.zone().getId());
      } else {
        String length = Durations.format(fixed.period().nominal());
        putWindow(members, Kind.FIXED_WINDOW, fixed.limit(), length);
      }
    }
    return members;
  }

  private static void putWindow(Map<String, Object> members, Kind kind, long limit, String window) {
    members.put("algorithm", kind.wireName);
    members.put("limit", limit);
    members.put("window", window);
  }

  /** A whole rate is written the way its author wrote it, without a fraction. */
  static Object number(double rate) {
    return rate == Math.rint(rate) && rate < 0x1p53 ? (Object) (long) rate : (Object) rate;
  }
}
