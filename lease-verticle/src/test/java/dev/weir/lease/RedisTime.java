package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Clock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Puts a Redis on virtual time: the script reads its time from a name next to the key's, which is
 * set before each call, and deletes what has expired by then.
 */
final class RedisTime implements StoreDriver.BeforeRefill {
  private static final String REAL = "local time = redis.call('TIME')";
  private static final String VIRTUAL =
      """
      local server = redis
      local time = { string.match(server.call('GET', 'time:' .. string.match(KEYS[1], '%b{}')),
        '^(%d+) (%d+)$') }
      local millis = time[1] * 1000 + math.floor(time[2] / 1000)
      for _, name in ipairs(KEYS) do
        local expiries = 'expiries:' .. string.match(name, '%b{}')
        for _, over in ipairs(server.call('ZRANGEBYSCORE', expiries, '-inf', millis)) do
          server.call('DEL', over)
          server.call('ZREM', expiries, over)
        end
      end
      local redis = { call = function(command, name, ...)
        local given = { ... }
        if command == 'PTTL' then
          return server.call('ZSCORE', 'expiries:' .. string.match(name, '%b{}'), name) - millis
        end
        local reply = server.call(command, name, ...)
        local ttl = command == 'PEXPIRE' and given[1] or command == 'SET' and given[3]
        if ttl then
          server.call('ZADD', 'expiries:' .. string.match(name, '%b{}'), millis + ttl, name)
        end
        return reply
      end }
      """;

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

  RedisTime(Commands redis, VirtualClock time) {
    this.redis = redis;
    this.time = time;
  }

  static RefillScript script(StoreKeys keys, Clock nodeTime) {
    assertThat(RefillScript.shipped()).containsOnlyOnce(REAL);
    String text = RefillScript.shipped().replace(REAL, VIRTUAL);
    return new RefillScript(text, keys, WINDOW, new StoreClock(nodeTime));
  }

  /** A store on virtual time. */
  static StoreDriver store(
      Vertx vertx, StoreUrl url, Commands redis, VirtualClock time, String prefix) {
    return store(vertx, url, redis, time, time, prefix);
  }

  private static StoreDriver store(
      Vertx vertx, StoreUrl url, Commands redis, VirtualClock time, Clock nodeTime, String prefix) {
    RedisTime redisTime = new RedisTime(redis, time);
    redisTime.set("{" + StoreKeys.WARM_UP + "}");
    Store store = store(vertx, url, script(new StoreKeys(prefix), nodeTime));
    return new StoreDriver(vertx, store, redisTime);
  }

  /** A store on {@code server} and virtual time, and a node on a time of its own. */
  static StoreDriver store(
      Vertx vertx, RedisServer server, VirtualClock time, Clock nodeTime, String prefix) {
    StoreUrl url = StoreUrl.parse(server.url());
    return store(vertx, url, new Standalone(server.probe()), time, nodeTime, prefix);
  }

  /** A store on {@code server} and virtual time. */
  static StoreDriver store(Vertx vertx, RedisServer server, VirtualClock time, String prefix) {
    StoreUrl url = StoreUrl.parse(server.url());
    return store(vertx, url, new Standalone(server.probe()), time, prefix);
  }

  /** A store on {@code server} and its own time. */
  static StoreDriver realTimeStore(Vertx vertx, RedisServer server, String prefix) {
    RefillScript script =
        new RefillScript(
            RefillScript.shipped(), new StoreKeys(prefix), WINDOW, new StoreClock(Clock.system()));
    StoreUrl url = StoreUrl.parse(server.url());
    return new StoreDriver(vertx, store(vertx, url, script));
  }

  private static Store store(Vertx vertx, StoreUrl url, RefillScript script) {
    RandomGenerator random = RandomGenerator.getDefault();
    return Stores.redis(
        url,
        new StoreContext(
            vertx,
            script,
            new StoreEpochs(random),
            StoreDriver.TIMEOUT,
            Clock.system(),
            random,
            new SimpleMeterRegistry()));
  }

  @Override
  public void prepare(List<Refill> batch) {
    for (Refill refill : batch) {
      set("{" + StoreKeys.tag(refill.key(), refill.shard()) + "}");
    }
  }

  void set(String tag) {
    String now = time.epochMicros() / 1_000_000 + " " + time.epochMicros() % 1_000_000;
    redis.call("time:" + tag, "SET", "time:" + tag, now);
  }

  @Override
  public void close() {
    redis.close();
  }
}
