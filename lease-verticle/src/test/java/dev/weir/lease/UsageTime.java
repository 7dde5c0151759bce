package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Clock;
import io.vertx.core.Vertx;

/** Puts {@code usage.lua} on virtual time, which it reads from a name beside its own. */
final class UsageTime implements AutoCloseable {
  private static final String REAL = "local time = redis.call('TIME')";
  private static final String NAME = "time:";
  private static final String VIRTUAL =
      """
      local time = { string.match(redis.call('GET', 'time:' .. string.match(KEYS[1], '%b{}')),
        '^(%d+) (%d+)$') }
      """;

  private final RedisTime.Commands redis;
  private final VirtualClock time;
  private final String name;

  UsageTime(RedisTime.Commands redis, VirtualClock time, UsageScript script) {
    this.redis = redis;
    this.time = time;
    this.name = NAME + "{" + script.stream() + "}";
  }

  static LuaScript text() {
    assertThat(UsageScript.shipped()).containsOnlyOnce(REAL);
    return LuaScript.of(UsageScript.shipped().replace(REAL, VIRTUAL));
  }

  static UsageLink link(Vertx vertx, StoreUrl url, UsageScript script) {
    return Stores.usageLink(url, script, text(), vertx, Clock.system());
  }

  /** Tells the store what time it is. */
  void tell() {
    String now = time.epochMicros() / 1_000_000 + " " + time.epochMicros() % 1_000_000;
    redis.call(name, "SET", name, now);
  }

  @Override
  public void close() {
    redis.close();
  }
}
