package dev.weir.config;

/**
 * Takes overrides out of force when their time is over. It knows no more than the earliest moment
 * at which one of them can end, and walks them all when that has come. Owned by one thread at a
 * time.
 */
final class OverrideEnds {

  private long earliestMillis = KeyOverride.NEVER;

  /** Takes note of an override that is now among those in force. */
  void note(KeyOverride override) {
    earliestMillis = Math.min(earliestMillis, override.endMillis());
  }

  /** Those of {@code overrides}, all of them noted, that are not over at {@code nowMillis}. */
  KeyMap<KeyOverride> inForce(KeyMap<KeyOverride> overrides, long nowMillis) {
    if (nowMillis < earliestMillis) {
      return overrides;
    }
    earliestMillis = KeyOverride.NEVER;
    return overrides.keeping(
        override -> {
          boolean kept = !override.endedBy(nowMillis);
          if (kept) {
            note(override);
          }
          return kept;
        });
  }

  /** No override ends before this, milliseconds since the epoch. */
  long earliestMillis() {
    return earliestMillis;
  }
}
