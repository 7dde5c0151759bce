package dev.weir.lease;

import dev.weir.config.WindowPeriod.Calendar;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * A window in the store's time.
 *
 * @param number of the window in the name of its counter: those of equal length are counted from
 *     the epoch, those of the calendar have the second of their end
 * @param endMicros microseconds of the store's epoch
 * @param nextEndMicros when the next window ends
 */
record StoreWindow(long number, long endMicros, long nextEndMicros) {

  /** The window of {@code key} that {@code storeMicros} falls into, of windows of equal length. */
  static StoreWindow every(String key, long lengthMicros, long storeMicros) {
    long jitter = Jitter.micros(key, lengthMicros);
    long number = Math.floorDiv(storeMicros + jitter, lengthMicros);
    long end = (number + 1) * lengthMicros - jitter;
    return new StoreWindow(number, end, end + lengthMicros);
  }

  /**
   * Windows of calendars, remembered while they last, since finding them takes longer than all the
   * rest of a refill. Owned by one thread.
   */
  static final class Calendars {
    private static final long MICROS_PER_SECOND = 1_000_000;

    private record Found(long startMicros, StoreWindow window) {}

    private final Map<Calendar, Found> latest = new HashMap<>();

    /** The window that {@code storeMicros} falls into. */
    StoreWindow at(Calendar calendar, long storeMicros) {
      return find(calendar, storeMicros).window;
    }

    /** When the window that {@code storeMicros} falls into began. */
    long startMicros(Calendar calendar, long storeMicros) {
      return find(calendar, storeMicros).startMicros;
    }

    private Found find(Calendar calendar, long storeMicros) {
      Found found = latest.get(calendar);
      if (found == null
          || storeMicros < found.startMicros
          || storeMicros >= found.window.endMicros) {
        found = compute(calendar, storeMicros);
        latest.put(calendar, found);
      }
      return found;
    }

    private static Found compute(Calendar calendar, long storeMicros) {
      // Windows begin and end at whole seconds.
      Instant now = Instant.ofEpochSecond(Math.floorDiv(storeMicros, MICROS_PER_SECOND));
      Instant end = calendar.end(now);
      return new Found(
          micros(calendar.start(now)),
          new StoreWindow(end.getEpochSecond(), micros(end), micros(calendar.end(end))));
    }

    private static long micros(Instant wholeSecond) {
      return wholeSecond.getEpochSecond() * MICROS_PER_SECOND;
    }
  }

  /** How a calendar is called in the store; without spaces. */
  static String name(Calendar calendar) {
    return calendar.unit().wireName() + '/' + calendar.zone().getId();
  }
}
