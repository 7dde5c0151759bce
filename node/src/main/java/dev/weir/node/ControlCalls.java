package dev.weir.node;

import dev.weir.client.CheckRequest;
import dev.weir.client.LimitStatus;
import dev.weir.config.Algorithm;
import dev.weir.config.Clock;
import dev.weir.config.Configuration;
import dev.weir.config.KeyFormat;
import dev.weir.config.KeyLine;
import dev.weir.config.KeyLines;
import dev.weir.config.KeyOverride;
import dev.weir.config.KeySetting;
import dev.weir.config.Limit;
import dev.weir.config.Membership;
import dev.weir.config.NodeStatus;
import dev.weir.config.Plan;
import dev.weir.config.PlanFormat;
import dev.weir.decision.KeyInspector;
import dev.weir.decision.KeyLimits;
import dev.weir.node.AuditTrail.Subject;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * What the control plane can be asked, from JSON to JSON.
 *
 * <p>A call that is wrong fails, thrown or in its future, with {@link RefusedCallException}, {@code
 * ConfigRefusedException} or {@code CheckRefusedException}, and then has changed nothing. A call
 * with a body reads it at once, and gives the step that does what it says.
 */
final class ControlCalls {

  private static final double MILLIS_PER_SECOND = 1000;
  private static final long MAX_WEIGHT = CheckRequest.MAX_COST;
  private static final int MAX_HOT_KEYS = 1000;

  private final Configuration configuration;
  private final Membership membership;
  private final KeyInspector inspector;
  private final KeyReset reset;
  private final AuditTrail audit;
  private final FleetHotKeys hotKeys;
  private final KeyUsage usage;
  private final BooleanSupplier storeUp;
  private final WeightChanges weightChanges;
  private final Clock clock;
  private volatile boolean stopping;

  ControlCalls(
      Configuration configuration,
      Membership membership,
      KeyInspector inspector,
      KeyReset reset,
      AuditTrail audit,
      FleetHotKeys hotKeys,
      KeyUsage usage,
      BooleanSupplier storeUp,
      Clock clock) {
    this.configuration = configuration;
    this.membership = membership;
    this.inspector = inspector;
    this.reset = reset;
    this.audit = audit;
    this.hotKeys = hotKeys;
    this.usage = usage;
    this.storeUp = storeUp;
    this.weightChanges = new WeightChanges(configuration, membership);
    this.clock = clock;
  }

  /** The node is no longer ready; from any thread. */
  void stopping() {
    stopping = true;
  }

  Supplier<Future<Void>> putPlan(Caller by, String name, JsonObject body) {
    Plan plan = PlanFormat.parse(name, body.getMap());
    return () -> {
      weightChanges.check(plan);
      return configuration
          .putPlan(plan)
          .compose(
              before ->
                  audit.changed(
                      by,
                      Subject.of("put_plan", name),
                      before.map(ControlCalls::json),
                      Optional.of(json(plan))));
    };
  }

  Future<Void> deletePlan(Caller by, String name) {
    return configuration
        .deletePlan(name)
        .compose(
            before ->
                audit.changed(
                    by,
                    Subject.of("delete_plan", name),
                    Optional.of(json(before)),
                    Optional.empty()));
  }

  Future<JsonObject> plans() {
    JsonObject plans = new JsonObject();
    new TreeMap<>(configuration.current().plans())
        .forEach((name, plan) -> plans.put(name, json(plan)));
    JsonObject answer = new JsonObject().put("plans", plans);
    configuration.current().defaultPlan().ifPresent(plan -> answer.put("default_plan", plan));
    return Future.succeededFuture(answer);
  }

  Future<JsonObject> plan(String name) {
    Plan plan =
        configuration
            .current()
            .plan(name)
            .orElseThrow(
                () -> new RefusedCallException(404, "there is no plan " + Quoted.of(name)));
    return Future.succeededFuture(json(plan));
  }

  Supplier<Future<Void>> setKey(Caller by, String key, JsonObject body) {
    KeySetting setting = KeyFormat.parse(body.getMap(), clock.epochMillis());
    String checked = checkedKey(key);
    return () -> {
      weightChanges.check(checked, setting);
      return configuration
          .setKey(checked, setting)
          .compose(
              before ->
                  audit.changed(
                      by,
                      Subject.ofKey("set_key", checked),
                      json(before),
                      json(before.with(setting))));
    };
  }

  /**
   * Sets what the lines of {@code body} say of many keys. It takes a second for some hundred
   * thousand of them: not for an event loop.
   */
  Future<JsonObject> setKeys(Caller by, Buffer body) {
    List<KeyLine> lines = KeyLines.parse(body.getBytes(), clock.epochMillis());
    weightChanges.check(lines);
    return configuration
        .setKeys(lines)
        .compose(
            changed -> {
              JsonObject answer =
                  new JsonObject().put("lines", lines.size()).put("changed", changed);
              return changed == 0
                  ? Future.succeededFuture(answer)
                  : audit
                      .changed(
                          by, Subject.of("set_keys", ""), Optional.empty(), Optional.of(answer))
                      .map(answer);
            });
  }

  Future<Void> clearKey(Caller by, String key) {
    String checked = checkedKey(key);
    weightChanges.checkCleared(checked);
    return configuration
        .clearKey(checked)
        .compose(
            before ->
                audit.changed(by, Subject.ofKey("clear_key", key), json(before), Optional.empty()));
  }

  Future<Void> reset(Caller by, String key) {
    return reset
        .reset(checkedKey(key))
        .compose(done -> audit.done(by, Subject.ofKey("reset_key", key)));
  }

  Supplier<Future<Void>> putEndpoint(Caller by, String endpoint, JsonObject body) {
    if (!body.fieldNames().equals(Set.of("weight"))) {
      throw new RefusedCallException(400, "weight: must be there, and nothing else");
    }
    if (!(body.getValue("weight") instanceof Number number)
        || number.doubleValue() != number.longValue()
        || number.longValue() < 0
        || number.longValue() > MAX_WEIGHT) {
      throw new RefusedCallException(400, "weight: must be a whole number from 0 to " + MAX_WEIGHT);
    }
    long weight = number.longValue();
    return () ->
        configuration
            .putEndpoint(endpoint, weight)
            .compose(
                before ->
                    audit.changed(
                        by,
                        Subject.of("put_endpoint", endpoint),
                        before.map(ControlCalls::json),
                        Optional.of(json(weight))));
  }

  Future<JsonObject> endpoints() {
    JsonObject endpoints = new JsonObject();
    new TreeMap<>(configuration.current().endpoints()).forEach(endpoints::put);
    return Future.succeededFuture(new JsonObject().put("endpoints", endpoints));
  }

  /** The numbers of each limit; those of the one with the least left stand at the top as well. */
  Future<JsonObject> limits(String key) {
    return inspector.inspect(checkedKey(key)).map(this::json);
  }

  /** What a key has used in its last windows. */
  Future<JsonObject> usage(String key) {
    return usage.of(checkedKey(key));
  }

  private Optional<JsonObject> override(String key) {
    long now = clock.epochMillis();
    return Optional.ofNullable(configuration.current().overrides().get(key))
        .filter(override -> !override.endedBy(now))
        .map(
            override -> {
              JsonObject numbers = new JsonObject(KeyFormat.format(override));
              return override.endMillis() == KeyOverride.NEVER
                  ? numbers
                  : numbers.put("expires_in", (override.endMillis() - now) / MILLIS_PER_SECOND);
            });
  }

  /**
   * The keys that stand out in the fleet.
   *
   * @param most how many, as text
   */
  Future<JsonObject> hotKeys(String most) {
    try {
      int count = Integer.parseInt(most);
      if (count >= 1 && count <= MAX_HOT_KEYS) {
        return hotKeys.top(count);
      }
    } catch (NumberFormatException e) {
      // Refused below.
    }
    throw new RefusedCallException(
        400,
        "limit: must be a whole number from 1 to " + MAX_HOT_KEYS + ", was " + Quoted.of(most));
  }

  /** The last changes of the configuration. */
  Future<JsonObject> recentChanges() {
    return audit.recent();
  }

  private static JsonObject json(Plan plan) {
    return new JsonObject(PlanFormat.format(plan));
  }

  private static JsonObject json(long weight) {
    return new JsonObject().put("weight", weight);
  }

  /** Empty if nothing is set. */
  private static Optional<JsonObject> json(KeySetting setting) {
    JsonObject json = new JsonObject();
    setting.plan().ifPresent(plan -> json.put("tier", plan));
    setting
        .override()
        .ifPresent(
            override -> {
              JsonObject numbers = new JsonObject(KeyFormat.format(override));
              if (override.endMillis() != KeyOverride.NEVER) {
                numbers.put("expires_at", AuditTrail.time(override.endMillis()));
              }
              json.put("override", numbers);
            });
    return Optional.of(json).filter(some -> !some.isEmpty());
  }

  private JsonObject json(KeyLimits of) {
    JsonArray limits = new JsonArray();
    for (int i = 0; i < of.statuses().size(); i++) {
      limits.add(json(of.plan().limits().get(i), of.statuses().get(i)));
    }
    JsonObject answer = new JsonObject().put("key", of.key()).put("plan", of.plan().name());
    if (of.plan().unlimited()) {
      answer.put("unlimited", true).put("remaining", Algorithm.MAX_QUOTA).put("reset_after", 0);
    } else {
      int tightest = tightest(of.statuses());
      answer.mergeIn(json(of.plan().limits().get(tightest), of.statuses().get(tightest)));
    }
    if (of.plan().shadow()) {
      answer.put("shadow", true);
    }
    override(of.key()).ifPresent(numbers -> answer.put("override", numbers));
    return answer
        .put("stale", of.staleMillis() / MILLIS_PER_SECOND)
        .put("degraded", of.degraded())
        .put("limits", limits);
  }

  private static JsonObject json(Limit limit, LimitStatus status) {
    return new JsonObject(PlanFormat.format(limit))
        .put("remaining", status.remaining())
        .put("reset_after", status.resetAfterMillis() / MILLIS_PER_SECOND);
  }

  private static int tightest(List<LimitStatus> statuses) {
    int tightest = 0;
    for (int i = 1; i < statuses.size(); i++) {
      if (statuses.get(i).remaining() < statuses.get(tightest).remaining()) {
        tightest = i;
      }
    }
    return tightest;
  }

  /** {@code nodes} is how many there are; who they are stands in {@code members}. */
  Future<JsonObject> cluster() {
    JsonArray members = new JsonArray();
    for (NodeStatus member : membership.members()) {
      members.add(
          new JsonObject()
              .put("address", member.address())
              .put("version", member.configVersion())
              .put("region", member.region())
              .put("uptime", uptimeSeconds(member))
              .put("store", member.store()));
    }
    return Future.succeededFuture(
        new JsonObject()
            .put("nodes", membership.nodes())
            .put("version", configuration.current().version())
            .put("members", members));
  }

  private long uptimeSeconds(NodeStatus member) {
    return Math.max(0, clock.epochMillis() - member.startedAtMillis()) / 1000;
  }

  Future<JsonObject> live() {
    return Future.succeededFuture(new JsonObject().put("status", "up"));
  }

  /**
   * A node without its store still decides and stays ready; one that has these calls to offer is
   * deployed and has its configuration. One that is stopping answers as before, but is not to be
   * sent new callers.
   */
  Future<JsonObject> ready() {
    if (stopping) {
      return Future.failedFuture(new RefusedCallException(503, "status: the node is stopping"));
    }
    return Future.succeededFuture(
        new JsonObject()
            .put("status", "up")
            .put("version", configuration.current().version())
            .put("nodes", membership.nodes())
            .put("store", storeUp.getAsBoolean() ? "up" : "down"));
  }

  /** As a check would judge it. */
  private static String checkedKey(String key) {
    return CheckRequest.of(key).key();
  }
}
