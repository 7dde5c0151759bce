package dev.weir.node;

import dev.weir.config.ConfigSnapshot;
import dev.weir.config.Configuration;
import dev.weir.config.Membership;
import dev.weir.config.RegionOffer;
import dev.weir.config.RegionQuestion;
import dev.weir.config.RegionWeights;
import dev.weir.config.Regions;
import dev.weir.node.AuditTrail.Subject;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** What the control plane can be asked of regions, from JSON to JSON; see {@link ControlCalls}. */
final class RegionCalls {

  private final Vertx vertx;
  private final Configuration configuration;
  private final Membership membership;
  private final String self;
  private final Supplier<Future<FleetDemand.Sums>> demand;
  private final AuditTrail audit;
  private final WeightChanges weightChanges;
  private final HeldWeights held = new HeldWeights();

  /**
   * @param self the region that this node is of
   * @param demand of all its nodes
   */
  RegionCalls(
      Vertx vertx,
      Configuration configuration,
      Membership membership,
      String self,
      Supplier<Future<FleetDemand.Sums>> demand,
      AuditTrail audit) {
    this.vertx = vertx;
    this.configuration = configuration;
    this.membership = membership;
    this.self = self;
    this.demand = demand;
    this.audit = audit;
    this.weightChanges = new WeightChanges(configuration, membership);
  }

  Supplier<Future<Void>> putTable(Caller by, JsonObject body) {
    RegionWeights table = RegionWeights.parseTable(body.getMap());
    return () -> {
      weightChanges.check(configuration.current().regions().table(), table);
      return change(() -> configuration.putRegions(self, table))
          .compose(
              before ->
                  audit.changed(
                      by, Subject.of("put_regions", ""), json(before.table()), json(table)));
    };
  }

  /**
   * Makes a change of weights off the event loop: every key of the node is looked at before it is
   * complete.
   */
  private Future<Regions> change(Callable<Future<Regions>> change) {
    return vertx.executeBlocking(change, false).compose(changed -> changed);
  }

  private static Optional<JsonObject> json(RegionWeights table) {
    return Optional.of(table).filter(t -> !t.isEmpty()).map(t -> new JsonObject(t.formatTable()));
  }

  /** What {@code GET /cluster} has to say of regions; nothing if limits are not divided. */
  JsonObject shown() {
    ConfigSnapshot config = configuration.current();
    Regions regions = config.regions();
    if (!regions.divided()) {
      return new JsonObject();
    }
    JsonObject weights = new JsonObject();
    new TreeMap<>(config.plans())
        .forEach(
            (name, plan) -> {
              if (!plan.unlimited()) {
                weights.put(name, RegionWeights.asNumber(regions.weight(plan)));
              }
            });
    return new JsonObject()
        .put("region", regions.self())
        .put("regions", new JsonObject(regions.table().formatTable()))
        .put("weights", weights);
  }

  /**
   * Answers another region what it has been given, and then gives it more if that is due, which is
   * told another time, when every node here enforces it.
   */
  Future<JsonObject> exchange(JsonObject body) {
    RegionQuestion question = RegionFormat.question(body);
    String other = question.region();
    RegionWeights table = configuration.current().regions().table();
    if (other.equals(self) || !table.millionths().containsKey(other)) {
      throw new RefusedCallException(
          403, "region: must be another region of the table here, was " + Quoted.of(other));
    }
    return demand
        .get()
        .map(
            asked -> {
              ConfigSnapshot config = configuration.current();
              List<String> unsettled = RegionOffer.unsettled(membership, config.regions());
              held.exchanged(other, unsettled);
              RegionOffer offer =
                  RegionOffer.to(
                      question, config, asked.rates(), asked.whole() && unsettled.isEmpty());
              carryOut(other, offer);
              return new JsonObject()
                  .put(RegionFormat.REGION, self)
                  .put(RegionFormat.GIVEN, RegionFormat.totals(offer.told()));
            });
  }

  /** Nobody waits for it: what has become of it is told when it is asked again. */
  private void carryOut(String other, RegionOffer offer) {
    learn(other, Map.of(), offer.forgotten())
        .compose(done -> give(other, offer.raised()))
        .onSuccess(done -> held.written(other))
        .onFailure(e -> held.unwritten(other, e.toString()));
  }

  /** Takes in what {@code other} tells of what it has given and received in all. */
  Future<Void> learn(String other, Map<String, Long> received, Map<String, Long> given) {
    return received.isEmpty() && given.isEmpty()
        ? Future.succeededFuture()
        : change(() -> configuration.learn(other, received, given))
            .compose(before -> moved(other, before));
  }

  private Future<Void> give(String other, Map<String, Long> raised) {
    return raised.isEmpty()
        ? Future.succeededFuture()
        : change(() -> configuration.give(other, raised)).compose(before -> moved(other, before));
  }

  /** Writes down what has moved by what {@code other} said. */
  private Future<Void> moved(String other, Regions before) {
    ConfigSnapshot now = configuration.current();
    return audit.changed(
        Caller.region(other),
        Subject.of("move_weights", ""),
        weights(now, before),
        weights(now, now.regions()));
  }

  /** The weights of plans that have ever moved. */
  private static Optional<JsonObject> weights(ConfigSnapshot config, Regions regions) {
    JsonObject weights = new JsonObject();
    new TreeMap<>(config.plans())
        .forEach(
            (name, plan) -> {
              if (config.regions().ledger().plans().containsKey(name)) {
                weights.put(name, RegionWeights.asNumber(regions.weight(plan)));
              }
            });
    return Optional.of(weights);
  }
}
