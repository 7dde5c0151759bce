package dev.weir.node;

import dev.weir.config.ConfigSnapshot;
import dev.weir.config.Configuration;
import dev.weir.config.Membership;
import dev.weir.config.NodeStatus;
import dev.weir.config.Plan;
import dev.weir.config.RegionQuestion;
import dev.weir.config.RegionQuestion.Need;
import dev.weir.config.RegionWeights;
import dev.weir.config.Regions;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the other regions for weight, every few seconds, from the oldest node of the region alone;
 * and tells what weights there are. Two nodes that ask at the same time, since their cluster has
 * split, do no harm.
 */
final class RegionExchange extends VerticleBase {

  private static final Logger LOG = LoggerFactory.getLogger(RegionExchange.class);

  /** How often others are asked. */
  static final long PERIOD_MILLIS = 5_000;

  private final Configuration configuration;
  private final Membership membership;
  private final String address;
  private final Settings.Region settings;
  private final DemandRates rates;
  private final Supplier<Map<String, Long>> totals;
  private final FleetDemand demand;
  private final RegionCalls calls;
  private final MeterRegistry registry;
  private final List<RegionPeer> peers = new ArrayList<>();
  private HttpClient client;
  private MultiGauge weights;
  private Map<String, Plan> shownPlans = Map.of();
  private Regions shownRegions = Regions.NONE;
  private Set<String> shownOverdrawn = Set.of();

  /**
   * @param address of this node, as its status tells it
   * @param totals that this node was asked for so far, permits by plan
   * @param rates kept of them here
   */
  RegionExchange(
      Configuration configuration,
      Membership membership,
      String address,
      Settings.Region settings,
      Supplier<Map<String, Long>> totals,
      DemandRates rates,
      FleetDemand demand,
      RegionCalls calls,
      MeterRegistry registry) {
    this.configuration = configuration;
    this.membership = membership;
    this.address = address;
    this.settings = settings;
    this.totals = totals;
    this.rates = rates;
    this.demand = demand;
    this.calls = calls;
    this.registry = registry;
  }

  @Override
  public Future<?> start() {
    weights =
        MultiGauge.builder("weir.region.weight")
            .description("Part of the plan's limits that this region enforces, 0 to 1")
            .register(registry);
    show(configuration.current());
    configuration.onChange(changed -> context.runOnContext(here -> show(changed)));
    client = vertx.createHttpClient(new HttpClientOptions().setKeepAlive(true));
    settings.token().ifPresent(token -> settings.peers().forEach(peer -> add(peer, token)));
    vertx.setPeriodic(PERIOD_MILLIS, timer -> turn());
    return Future.succeededFuture();
  }

  @Override
  public Future<?> stop() {
    return client.close();
  }

  private void add(RegionAddress at, Secret token) {
    RegionPeer peer = new RegionPeer(client, at, token);
    peers.add(peer);
    Gauge.builder(
            "weir.region.peer.up",
            peer,
            p -> p.answered().map(answered -> answered ? 1.0 : 0.0).orElse(Double.NaN))
        .description("1 if the region answered when this node last asked it; NaN if it never did")
        .tag("region", peer.region())
        .register(registry);
  }

  private void show(ConfigSnapshot config) {
    if (config.plans().equals(shownPlans) && config.regions().equals(shownRegions)) {
      return;
    }
    shownPlans = config.plans();
    shownRegions = config.regions();
    List<MultiGauge.Row<?>> rows = new ArrayList<>();
    Set<String> overdrawn = new HashSet<>();
    for (Plan plan : config.plans().values()) {
      long tooMuch = config.regions().overdrawn(plan);
      if (tooMuch > 0 && overdrawn.add(plan.name()) && !shownOverdrawn.contains(plan.name())) {
        LOG.warn(
            "plans.{}: this region has given {} more than it has, and enforces none of it",
            plan.name(),
            RegionWeights.asNumber(tooMuch));
      }
      if (!plan.unlimited()) {
        double weight = RegionWeights.asNumber(config.regions().weight(plan));
        rows.add(MultiGauge.Row.of(Tags.of("plan", plan.name()), weight));
      }
    }
    shownOverdrawn = overdrawn;
    weights.register(rows, true);
  }

  private void turn() {
    rates.sample(totals.get());
    if (configuration.current().regions().divided() && !peers.isEmpty() && isOldest()) {
      demand.now().onSuccess(asked -> peers.forEach(peer -> ask(peer, asked.rates())));
    }
  }

  private boolean isOldest() {
    return membership.members().stream()
        .min(
            Comparator.comparingLong(NodeStatus::startedAtMillis)
                .thenComparing(NodeStatus::address))
        .filter(oldest -> oldest.address().equals(address))
        .isPresent();
  }

  private void ask(RegionPeer peer, Map<String, Double> asked) {
    if (!peer.asking()) {
      peer.ask(RegionFormat.format(question(peer.region(), asked)))
          .onSuccess(answer -> take(peer.region(), answer));
    }
  }

  private RegionQuestion question(String other, Map<String, Double> asked) {
    ConfigSnapshot config = configuration.current();
    Regions regions = config.regions();
    Map<String, Need> needs = new HashMap<>();
    for (Plan plan : config.plans().values()) {
      if (regions.moves(plan)) {
        double demand = asked.getOrDefault(plan.name(), 0.0);
        needs.put(plan.name(), Need.counted(regions.weight(plan), demand));
      }
    }
    return new RegionQuestion(regions.self(), needs, regions.ledger().receivedFrom(other));
  }

  private void take(String other, JsonObject answer) {
    if (!other.equals(answer.getValue(RegionFormat.REGION))
        || !(answer.getValue(RegionFormat.GIVEN) instanceof JsonObject totals)) {
      LOG.warn(
          "region_peers: what is at the address of {} answers as region {}",
          other,
          Quoted.of(String.valueOf(answer.getValue(RegionFormat.REGION))));
      return;
    }
    ConfigSnapshot config = configuration.current();
    Map<String, Long> known = config.regions().ledger().receivedFrom(other);
    Map<String, Long> given = RegionFormat.totals(totals);
    given.keySet().retainAll(config.plans().keySet());
    given.entrySet().removeIf(each -> each.getValue() <= known.getOrDefault(each.getKey(), 0L));
    if (!given.isEmpty()) {
      calls
          .learn(other, given, Map.of())
          .onFailure(
              e -> LOG.warn("weight of region {} was not taken in: {}", other, e.toString()));
    }
  }
}
