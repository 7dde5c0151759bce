package dev.weir.node;

import dev.weir.lease.RedisServer;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;

/** What callers see with Redis. */
final class RedisStoreIT extends PlanScenarios {

  private RedisServer redis;

  @Override
  RunningNode startNode() {
    redis = RedisServer.start();
    Map<String, String> settings = RunningNode.settings();
    settings.put("WEIR_STORE", redis.url());
    settings.put("WEIR_STORE_TIMEOUT", RunningNode.PATIENT_STORE_TIMEOUT);
    return RunningNode.start(settings);
  }

  @AfterAll
  void stopRedis() {
    redis.close();
  }
}
