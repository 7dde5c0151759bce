package dev.weir.config;

/** How a limit counts, with its numbers. */
public sealed interface Algorithm permits TokenBucket {

  /** The most permits that can ever be spent at one instant, 0 to 10^12. */
  long quota();

  /** Seconds over which the quota is granted anew, rounded up. */
  long windowSeconds();

  /**
   * The most permits that can be spent in {@code windowMicros}, saturating at {@link
   * Long#MAX_VALUE}.
   */
  long admittedOver(long windowMicros);
}
