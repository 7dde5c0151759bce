package dev.weir.client;

import dev.weir.client.Decision.Allowed;
import dev.weir.client.Decision.Denied;
import dev.weir.client.Decision.Reason;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;

/** Decisions of every kind, with any key, any number of limits and any numbers. */
final class Decisions {

  private static final long UNITS = CheckRequest.MAX_COST;

  private Decisions() {}

  static Decision allowed(String key, LimitStatus... limits) {
    return new Allowed(key, "gold", limits[0], List.of(limits), 12, false);
  }

  static Decision denied(long retryAfterMillis, LimitStatus... limits) {
    Reason reason = retryAfterMillis == Denied.NEVER ? Reason.COST_EXCEEDS_LIMIT : Reason.LIMIT;
    return new Denied(
        "acme", "gold", limits[0], List.of(limits), 12, false, reason, retryAfterMillis);
  }

  /** Of a plan that is closed while the store is away. */
  static Denied refused(LimitStatus... limits) {
    return new Denied(
        "acme", "gold", limits[0], List.of(limits), 12, true, Reason.STORE_AWAY, 1_000);
  }

  static LimitStatus status(String name, long quota, long windowSeconds, long left, long reset) {
    return new LimitStatus(new LimitPolicy(name, quota, windowSeconds), left, reset);
  }

  /** Texts as UTF-8 can carry them. */
  static Arbitrary<String> texts() {
    return Arbitraries.oneOf(
        Arbitraries.strings().ascii().ofMinLength(1).ofMaxLength(20),
        Arbitraries.of("\u0000", "\"\\/", "a\u001fb", "ü", "u\u0308", "🙂", "\u2028", "__proto__"));
  }

  static Arbitrary<Decision> any() {
    return Combinators.combine(
            texts(),
            texts(),
            statuses().list().ofMinSize(1).ofMaxSize(4),
            millis(),
            Arbitraries.of(true, false),
            Arbitraries.integers().between(0, 4),
            millis())
        .as(
            (key, plan, limits, stale, degraded, kind, retry) -> {
              LimitStatus first = limits.get(0);
              return switch (kind) {
                case 0, 1 -> new Allowed(key, plan, first, limits, stale, degraded);
                case 2 ->
                    new Denied(key, plan, first, limits, stale, degraded, Reason.LIMIT, retry);
                case 3 ->
                    new Denied(key, plan, first, limits, stale, true, Reason.STORE_AWAY, retry);
                default ->
                    new Denied(
                        key,
                        plan,
                        first,
                        limits,
                        stale,
                        degraded,
                        Reason.COST_EXCEEDS_LIMIT,
                        Denied.NEVER);
              };
            });
  }

  private static Arbitrary<LimitStatus> statuses() {
    return Combinators.combine(
            texts(),
            Arbitraries.longs().between(0, UNITS),
            Arbitraries.longs().between(0, Long.MAX_VALUE),
            Arbitraries.longs().between(0, UNITS),
            millis())
        .as(Decisions::status);
  }

  private static Arbitrary<Long> millis() {
    return Arbitraries.longs().between(0, Long.MAX_VALUE - 1);
  }
}
