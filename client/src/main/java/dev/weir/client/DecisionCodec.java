package dev.weir.client;

import dev.weir.client.Decision.Allowed;
import dev.weir.client.Decision.Denied;
import dev.weir.client.Decision.Reason;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageCodec;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * Hands a decision on as it is within the process, and as JSON between processes. That JSON is not
 * the one that HTTP answers with: it carries every limit, and times as whole milliseconds, so that
 * what arrives equals what was sent.
 *
 * <p>Vert.x keys default codecs by exact class and by name, so each kind of decision has its own.
 */
final class DecisionCodec<D extends Decision> implements MessageCodec<D, Decision> {

  private final String name;

  DecisionCodec(String name) {
    this.name = name;
  }

  @Override
  public void encodeToWire(Buffer buffer, D decision) {
    JsonArray limits = new JsonArray();
    decision.limits().forEach(status -> limits.add(statusToJson(status)));
    JsonObject json =
        new JsonObject()
            .put("key", decision.key())
            .put("plan", decision.plan())
            .put("status", statusToJson(decision.status()))
            .put("limits", limits)
            .put("stale_millis", decision.staleMillis())
            .put("degraded", decision.degraded());
    if (decision instanceof Denied denied) {
      json.put("reason", denied.reason().wireName())
          .put("retry_after_millis", denied.retryAfterMillis());
    }
    WireJson.append(buffer, json);
  }

  @Override
  public Decision decodeFromWire(int position, Buffer buffer) {
    JsonObject json = WireJson.read(position, buffer);
    String key = json.getString("key");
    String plan = json.getString("plan");
    LimitStatus status = statusFromJson(json.getJsonObject("status"));
    List<LimitStatus> limits = new ArrayList<>();
    for (Object limit : json.getJsonArray("limits")) {
      limits.add(statusFromJson((JsonObject) limit));
    }
    long staleMillis = json.getLong("stale_millis");
    boolean degraded = json.getBoolean("degraded");
    String reason = json.getString("reason");
    if (reason == null) {
      return new Allowed(key, plan, status, List.copyOf(limits), staleMillis, degraded);
    }
    return new Denied(
        key,
        plan,
        status,
        List.copyOf(limits),
        staleMillis,
        degraded,
        reasonOf(reason),
        json.getLong("retry_after_millis"));
  }

  @Override
  public Decision transform(D decision) {
    return decision;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public byte systemCodecID() {
    return -1;
  }

  private static Reason reasonOf(String wireName) {
    for (Reason reason : Reason.values()) {
      if (reason.wireName().equals(wireName)) {
        return reason;
      }
    }
    throw new IllegalArgumentException("no reason of a denial: " + wireName);
  }

  private static JsonObject statusToJson(LimitStatus status) {
    return new JsonObject()
        .put("name", status.policy().name())
        .put("quota", status.policy().quota())
        .put("window_seconds", status.policy().windowSeconds())
        .put("remaining", status.remaining())
        .put("reset_after_millis", status.resetAfterMillis());
  }

  private static LimitStatus statusFromJson(JsonObject json) {
    return new LimitStatus(
        new LimitPolicy(
            json.getString("name"), json.getLong("quota"), json.getLong("window_seconds")),
        json.getLong("remaining"),
        json.getLong("reset_after_millis"));
  }
}
