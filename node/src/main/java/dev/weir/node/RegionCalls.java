package dev.weir.node;

import dev.weir.config.ConfigRefusedException;
import dev.weir.config.ConfigSnapshot;
import dev.weir.config.Configuration;
import dev.weir.config.Membership;
import dev.weir.config.RegionOffer;
import dev.weir.config.RegionQuestion;
import dev.weir.config.RegionWeights;
import dev.weir.config.Regions;
import dev.weir.node.AuditTrail.Subject;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/** What the control plane can be asked of regions, from JSON to JSON; see {@link ControlCalls}. */
final class RegionCalls {

  private final Configuration configuration;
  private final Membership membership;
  private final String self;
  private final Supplier<Future<Map<String, Double>>> demand;
  private final AuditTrail audit;

  /**
   * @param self the region that this node is of
   * @param demand of all its nodes, permits a second by plan
   */
  RegionCalls(
      Configuration configuration,
      Membership membership,
      String self,
      Supplier<Future<Map<String, Double>>> demand,
      AuditTrail audit) {
    this.configuration = configuration;
    this.membership = membership;
    this.self = self;
    this.demand = demand;
    this.audit = audit;
  }

  Supplier<Future<Void>> putTable(Caller by, JsonObject body) {
    RegionWeights table = RegionWeights.parseTable(body.getMap());
    return () ->
        configuration
            .putRegions(self, table)
            .compose(
                before ->
                    audit.changed(
                        by, Subject.of("put_regions", ""), json(before.table()), json(table)));
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
   * Answers another region what it has been given, and gives it more if that is due. What is given
   * now is told another time, when every node here enforces it.
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
        .compose(
            asked -> {
              ConfigSnapshot config = configuration.current();
              boolean settled = RegionOffer.settled(membership, config.regions());
              RegionOffer offer = RegionOffer.to(question, config, asked, settled);
              JsonObject answer =
                  new JsonObject()
                      .put(RegionFormat.REGION, self)
                      .put(RegionFormat.GIVEN, RegionFormat.totals(offer.told()));
              return learn(other, offer).compose(done -> give(other, offer)).map(answer);
            });
  }

  private Future<Void> learn(String other, RegionOffer offer) {
    return offer.forgotten().isEmpty()
        ? Future.succeededFuture()
        : configuration
            .learn(other, Map.of(), offer.forgotten())
            .compose(before -> moved(other, before));
  }

  private Future<Void> give(String other, RegionOffer offer) {
    return offer.raised().isEmpty()
        ? Future.succeededFuture()
        : configuration
            .give(other, offer.raised())
            .compose(before -> moved(other, before))
            // Its weight was lowered meanwhile: it is asked again in a moment.
            .recover(
                failure ->
                    failure instanceof ConfigRefusedException
                        ? Future.succeededFuture()
                        : Future.failedFuture(failure));
  }

  /** Writes down what has moved by what {@code other} said. */
  Future<Void> moved(String other, Regions before) {
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
