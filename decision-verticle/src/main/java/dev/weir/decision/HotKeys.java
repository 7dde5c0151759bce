package dev.weir.decision;

import dev.weir.decision.RecentItems.Weighed;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which keys take the most permits from the store lately, and which are denied the most.
 *
 * <p>Decisions from permits that are held leave no mark here: what a key spends is what refills
 * bring, so that it is enough to count those. Keys are spread by hash over a few sketches, each
 * with a lock of its own. Safe to use from any thread.
 */
final class HotKeys {

  /** What is told is of the last one to two halves. */
  private static final long HALF_MICROS = 30_000_000;

  /** Their number is a power of two. */
  private static final int STRIPE_BITS = 2;

  private final Stripe[] stripes = new Stripe[1 << STRIPE_BITS];

  private record Stripe(RecentItems taken, RecentItems denied) {}

  HotKeys() {
    Arrays.setAll(
        stripes, i -> new Stripe(new RecentItems(HALF_MICROS), new RecentItems(HALF_MICROS)));
  }

  void taken(String key, long permits, long nowMicros) {
    if (permits > 0) {
      stripeOf(key).taken.add(key, permits, nowMicros);
    }
  }

  void denied(String key, long nowMicros) {
    stripeOf(key).denied.add(key, 1, nowMicros);
  }

  /** The {@code most} keys of either kind that stand out. */
  HotKeyCounts top(int most, long nowMicros) {
    return new HotKeyCounts(
        top(Stripe::taken, most, nowMicros), top(Stripe::denied, most, nowMicros));
  }

  private Map<String, Long> top(Function<Stripe, RecentItems> of, int most, long nowMicros) {
    return Stream.of(stripes)
        .flatMap(stripe -> of.apply(stripe).items(nowMicros).stream())
        .sorted(Comparator.comparingLong(Weighed::weight).reversed())
        .limit(most)
        .collect(Collectors.toMap(Weighed::item, Weighed::weight));
  }

  private Stripe stripeOf(String key) {
    return stripes[(key.hashCode() * 0x9E3779B9) >>> (Integer.SIZE - STRIPE_BITS)];
  }
}
