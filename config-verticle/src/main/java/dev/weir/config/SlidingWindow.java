package dev.weir.config;

import dev.weir.config.Consumption.Came;
import java.time.Duration;

/**
 * Two counters: that of the window under way, and that of the one before, of which counts what
 * still lies within one window of now. The store keeps when the first and the last permit of a
 * window came; the others are taken to have come evenly in between, and not closer to each other
 * than an even spread over a whole window puts them, so that what came in one burst leaves bit by
 * bit.
 *
 * <p>Who asks again and again gets the limit in every window, and at most one permit more in any
 * span of that length. Permits of a window that came neither evenly nor in a burst at its start can
 * let through more, though by no more than twice the limit. The usual estimate, a count weighted by
 * the overlap of its window, knows less: a burst at the end of a window is half forgotten half a
 * window later, and of small limits the last permit fits only when the window is over, which takes
 * up to one permit a window from who asks again and again.
 *
 * @param limit permits per window, 0 to 10^12
 * @param window at least a millisecond, at most ten years, whole milliseconds
 */
public record SlidingWindow(long limit, Duration window) implements Algorithm {

  /**
   * @throws IllegalArgumentException if a number is out of its range
   */
  public SlidingWindow {
    Windows.check(limit, window);
  }

  @Override
  public SlidingWindow scaled(long millionths) {
    return new SlidingWindow(Windows.scaled(limit, millionths), window);
  }

  @Override
  public SlidingWindow part(Shard shard) {
    return new SlidingWindow(shard.partOf(limit), window);
  }

  /** The window, in microseconds. */
  public long windowMicros() {
    return window.toNanos() / 1000;
  }

  @Override
  public long quota() {
    return limit;
  }

  @Override
  public long windowSeconds() {
    return Windows.seconds(window);
  }

  @Override
  public long admittedOver(long spanMicros) {
    return Windows.admittedOver(limit, windowMicros(), spanMicros);
  }

  @Override
  public double levelAfter(Consumption then, long elapsedMicros) {
    return levelAfter(then, elapsedMicros, windowMicros());
  }

  /** The level under any limit of windows of {@code windowMicros}. */
  public static double levelAfter(Consumption then, long elapsedMicros, long windowMicros) {
    long elapsed = Math.max(0, elapsedMicros);
    if (elapsed < then.leftMicros()) {
      long over = then.previousCame().firstMicros() + elapsed - windowMicros;
      return then.used() + counting(then.previous(), then.previousCame(), over, windowMicros);
    }
    if (elapsed < then.leftMicros() + windowMicros) {
      long over = then.usedCame().firstMicros() + elapsed - windowMicros;
      return counting(then.used(), then.usedCame(), over, windowMicros);
    }
    return 0;
  }

  /**
   * What still counts of a window that is over.
   *
   * @param over since its first permit has left, microseconds; negative before
   */
  private static double counting(double count, Came came, long over, long windowMicros) {
    if (over < 0 || count < 1) {
      return count;
    }
    double later = Math.floor(over * count / windowMicros);
    if (came.spanMicros() > 0) {
      later = Math.min(later, Math.floor(over * (count - 1) / came.spanMicros()));
    }
    return Math.max(0, count - 1 - later);
  }

  /** Microseconds after {@code came} was told at which {@code gone} permits have left. */
  private double microsUntilGone(double gone, double count, Came came) {
    double later = (gone - 1) * windowMicros() / count;
    if (came.spanMicros() > 0 && count > 1) {
      later = Math.max(later, (gone - 1) * came.spanMicros() / (count - 1));
    }
    return windowMicros() - came.firstMicros() + later;
  }

  @Override
  public long microsUntilFits(Consumption then, long elapsedMicros, long ofCost) {
    long elapsed = Math.max(0, elapsedMicros);
    // More than the limit never fits: then until all has left, lest it be looked for in vain.
    long cost = Math.min(ofCost, limit);
    if (fits(levelAfter(then, elapsed), cost)) {
      return 0;
    }
    double room = (double) limit - cost;
    double at;
    if (fits(then.used(), cost)) {
      double gone = then.used() + then.previous() - room;
      double micros = microsUntilGone(gone, then.previous(), then.previousCame());
      at = Math.min(micros, (double) then.leftMicros());
    } else {
      double micros = microsUntilGone(then.used() - room, then.used(), then.usedCame());
      at = Math.min(micros, (double) (then.leftMicros() + windowMicros()));
    }
    long micros = Math.max(elapsed + 1, (long) Math.floor(at));
    // By what the floor and the divisions have lost.
    while (!fits(levelAfter(then, micros), cost)) {
      micros++;
    }
    return micros - elapsed;
  }

  @Override
  public long microsUntilReset(Consumption then, long elapsedMicros) {
    double at = 0;
    if (then.used() > 0) {
      double gone = microsUntilGone(then.used(), then.used(), then.usedCame());
      at = Math.min(gone, (double) (then.leftMicros() + windowMicros()));
    } else if (then.previous() > 0) {
      double gone = microsUntilGone(then.previous(), then.previous(), then.previousCame());
      at = Math.min(gone, (double) then.leftMicros());
    }
    return Math.max(0, (long) Math.ceil(at) - Math.max(0, elapsedMicros));
  }
}
