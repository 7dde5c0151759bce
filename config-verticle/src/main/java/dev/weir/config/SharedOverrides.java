package dev.weir.config;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;

/**
 * Overrides as they are shared: JSON text. An entry outlives its override for a while, so that
 * members whose clocks are ahead end it for nobody else.
 */
record SharedOverrides(Clock clock) implements SharedKeys.Codec<KeyOverride> {

  /** How long an override stays in the shared map when its time is over. */
  private static final long ENDED_MILLIS = 60_000;

  @Override
  public String encode(KeyOverride override) {
    return new JsonObject(KeyFormat.write(override)).encode();
  }

  @Override
  public KeyOverride decode(String text) {
    try {
      return KeyFormat.read(new JsonObject(text).getMap());
    } catch (DecodeException | ConfigRefusedException e) {
      throw new IllegalStateException("an override of the cluster: " + e.getMessage(), e);
    }
  }

  @Override
  public long lifeMillis(KeyOverride override) {
    return override.endMillis() == KeyOverride.NEVER
        ? 0
        : Math.max(0, override.endMillis() - clock.epochMillis()) + ENDED_MILLIS;
  }
}
