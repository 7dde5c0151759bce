package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Clock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Puts a Redis on virtual time: the script reads its time from a name next to the key's, which is
 * set before each call, and what has expired by then is deleted.
 */
final class RedisTime implements StoreDriver.BeforeRefill {
  private static final String REAL = "local time = redis.call('TIME')";
  private static final String VIRTUAL =
      "local time = { string.match(redis.call('GET', 'time:' .. string.match(KEYS[1], '%b{}')),"
          + " '^(%d+) (%d+)$') }";

  static final AccountingWindow WINDOW = AccountingWindow.of(Duration.ofMinutes(1));

  /** Sends one command to the node that has the name. */
  interface Commands extends AutoCloseable {
    Object call(String name, String... command);

    @Override
    void close();
  }

  /** One server has all names. */
  record Standalone(RedisProbe probe) implements Commands {
    @Override
    public Object call(String name, String... command) {
      return probe.call(command);
    }

    @Override
    public void close() {
      probe.close();
    }
  }

  private final Commands redis;
  private final VirtualClock time;
  private final StoreKeys keys;

  /** Names of levels, by key. */
  private final Map<String, Set<String>> written = new HashMap<>();

  RedisTime(Commands redis, VirtualClock time, StoreKeys keys) {
    this.redis = redis;
    this.time = time;
    this.keys = keys;
  }

  static RefillScript script() {
    assertThat(RefillScript.shipped()).containsOnlyOnce(REAL);
    return new RefillScript(RefillScript.shipped().replace(REAL, VIRTUAL), WINDOW);
  }

  /** A store on virtual time. */
  static StoreDriver store(
      Vertx vertx, StoreUrl url, Commands redis, VirtualClock time, String prefix) {
    StoreKeys keys = new StoreKeys(prefix);
    RedisTime redisTime = new RedisTime(redis, time, keys);
    redisTime.set("{" + StoreKeys.WARM_UP + "}");
    return new StoreDriver(vertx, store(vertx, url, keys, script()), redisTime);
  }

  /** A store on {@code server} and virtual time. */
  static StoreDriver store(Vertx vertx, RedisServer server, VirtualClock time, String prefix) {
    StoreUrl url = StoreUrl.parse(server.url());
    return store(vertx, url, new Standalone(server.probe()), time, prefix);
  }

  /** A store on {@code server} and its own time. */
  static StoreDriver realTimeStore(Vertx vertx, RedisServer server, String prefix) {
    RefillScript script = new RefillScript(RefillScript.shipped(), WINDOW);
    StoreUrl url = StoreUrl.parse(server.url());
    return new StoreDriver(vertx, store(vertx, url, new StoreKeys(prefix), script));
  }

  private static Store store(Vertx vertx, StoreUrl url, StoreKeys keys, RefillScript script) {
    return Stores.redis(
        url,
        keys,
        new StoreContext(
            vertx,
            script,
            Clock.system(),
            RandomGenerator.getDefault(),
            new SimpleMeterRegistry()));
  }

  @Override
  public void prepare(List<Refill> batch) {
    for (Refill refill : batch) {
      String escaped = StoreKeys.escape(refill.key());
      set("{" + escaped + "}");
      Set<String> names = written.computeIfAbsent(escaped, key -> new HashSet<>());
      for (Take take : refill.takes()) {
        names.add(keys.level(escaped, take.limit().name()));
      }
      names.removeIf(this::expired);
    }
  }

  void set(String tag) {
    String now = time.epochMicros() / 1_000_000 + " " + time.epochMicros() % 1_000_000;
    redis.call("time:" + tag, "SET", "time:" + tag, now);
  }

  private boolean expired(String name) {
    String[] stored = redis.call(name, "GET", name).toString().split(" ", -1);
    if (stored.length < 3 || Double.parseDouble(stored[2]) > time.epochMillis()) {
      return stored.length < 3;
    }
    redis.call(name, "DEL", name);
    return true;
  }

  @Override
  public void close() {
    redis.close();
  }
}
