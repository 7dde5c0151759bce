package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

/** How regions divide limits, and how that is written. */
class RegionsTest {

  private static final String FILE =
      """
      default_plan: free
      plans:
        free: {rate: 100, period: 1m, capacity: 100}
        split: {rate: 10, capacity: 20, regions: {eu: 0.75, us: 0.25}}
        quota:
          limits:
            - {name: burst, rate: 50, capacity: 200}
            - {name: monthly, algorithm: fixed_window, limit: 1000, window: month}
        internal: {unlimited: true}
      regions: {eu: {weight: 0.6}, us: {weight: 0.4}}
      """;

  private static final PlansFile PLANS = PlansFile.parse(FILE);

  private static ConfigState begun(String region) {
    return new Seed(PLANS, false, region).appliedTo(Optional.empty(), "me");
  }

  private static ConfigState with(ConfigState before, ConfigDocument document) {
    return new ConfigState(document, before.assignments(), before.overrides())
        .nextAfter(before, "me");
  }

  private static List<Long> quotas(ConfigState state, String plan) {
    ConfigSnapshot snapshot = state.snapshot();
    return quotas(snapshot.enforced(snapshot.plan(plan).orElseThrow()));
  }

  private static List<Long> quotas(Plan plan) {
    return plan.limits().stream().map(limit -> limit.algorithm().quota()).toList();
  }

  @Example
  void regionEnforcesItsPartOfEachLimit() {
    assertThat(quotas(begun("eu"), "free")).containsExactly(60L);
    assertThat(quotas(begun("us"), "free")).containsExactly(40L);
    assertThat(quotas(begun("eu"), "quota")).containsExactly(120L, 600L);
  }

  @Example
  void planMayHaveWeightsOfItsOwn() {
    assertThat(quotas(begun("eu"), "split")).containsExactly(15L);
    assertThat(quotas(begun("us"), "split")).containsExactly(5L);
  }

  @Example
  void withoutATableAllIsEnforced() {
    ConfigState one = Seed.adding(PlansFile.example()).appliedTo(Optional.empty(), "me");
    Plan plan = one.snapshot().plan("gold").orElseThrow();

    assertThat(one.snapshot().enforced(plan)).isSameAs(plan);
    assertThat(one.snapshot().regions().weight(plan)).isEqualTo(RegionWeights.WHOLE);
  }

  @Example
  void unlimitedPlanStaysSo() {
    Plan plan = begun("eu").snapshot().plan("internal").orElseThrow();
    assertThat(begun("eu").snapshot().enforced(plan)).isEqualTo(plan);
  }

  @Example
  void everyAlgorithmKeepsItsTime() {
    assertThat(new TokenBucket(10, Duration.ofMinutes(1), 25).scaled(500_000))
        .isEqualTo(new TokenBucket(5, Duration.ofMinutes(1), 12));
    assertThat(new SlidingWindow(25, Duration.ofMinutes(1)).scaled(500_000))
        .isEqualTo(new SlidingWindow(12, Duration.ofMinutes(1)));
    assertThat(new SlidingLog(25, Duration.ofMinutes(1)).scaled(500_000))
        .isEqualTo(new SlidingLog(12, Duration.ofMinutes(1)));
    WindowPeriod day = new WindowPeriod.Every(Duration.ofDays(1));
    assertThat(new FixedWindow(25, day).scaled(500_000)).isEqualTo(new FixedWindow(12, day));
  }

  @Example
  void whatIsTooSlowForABucketFitsNothing() {
    assertThat(new TokenBucket(10, Duration.ofSeconds(1), 25).scaled(0).quota()).isZero();
    assertThat(new TokenBucket(1, Duration.ofDays(365), 25).scaled(500_000).quota()).isZero();
  }

  @Property
  void partsOfALimitAreNeverMoreThanIt(
      @ForAll @Size(min = 1, max = 8) List<@LongRange(min = 0, max = 1_000_000) Long> cuts,
      @ForAll @LongRange(min = 0, max = Algorithm.MAX_QUOTA) long quota) {
    List<Long> edges = new ArrayList<>(cuts);
    edges.add(0L);
    edges.add(RegionWeights.WHOLE);
    edges.sort(null);
    TokenBucket whole = new TokenBucket(1000, Duration.ofSeconds(1), quota);
    long capacities = 0;
    double rates = 0;
    for (int i = 1; i < edges.size(); i++) {
      TokenBucket part = whole.scaled(edges.get(i) - edges.get(i - 1));
      assertThat(part.windowSeconds()).isLessThanOrEqualTo(whole.windowSeconds() + 1);
      capacities += part.capacity();
      rates += part.capacity() == 0 ? 0 : part.rate();
    }
    assertThat(capacities).isBetween(Math.max(0, quota - edges.size()), quota);
    assertThat(rates).isLessThanOrEqualTo(whole.rate() * (1 + 1e-12));
  }

  @Example
  void longWindowsDoNotGainWhatHasMoved() {
    ConfigState us = begun("us");
    ConfigState moved = with(us, us.document().learn("eu", Map.of("quota", 100_000L), Map.of()));

    assertThat(quotas(moved, "quota")).containsExactly(100L, 400L);
    assertThat(quotas(moved, "free")).containsExactly(40L);
  }

  @Example
  void limitOfAnotherWindowTakesNothingBackThatWasGiven() {
    ConfigDocument given = begun("eu").document().give("us", Map.of("free", 200_000L));
    ConfigState longer = with(begun("eu"), given.putPlan(PlanFormat.parse("free", window("2h"))));
    assertThat(quotas(longer, "free")).containsExactly(40L);

    ConfigState shorter =
        with(longer, longer.document().putPlan(PlanFormat.parse("free", window("1m"))));
    assertThat(quotas(shorter, "free")).containsExactly(40L);
  }

  private static Map<String, Object> window(String window) {
    return Map.of("algorithm", "fixed_window", "limit", 100, "window", window);
  }

  @Example
  void nodeOfAnotherRegionIsRefused() {
    ConfigState eu = begun("eu");
    for (boolean authoritative : List.of(true, false)) {
      Seed other = new Seed(PlansFile.parse(FILE + "\nkeys: {a: free}"), authoritative, "us");
      assertThatThrownBy(() -> other.appliedTo(Optional.of(eu), "me"))
          .isInstanceOf(ConfigRefusedException.class)
          .hasMessage("region: must be 'eu', which the cluster or data_dir is of, was 'us'");
    }
  }

  @Example
  void anotherTableMakesNoOtherRegionOfIt() {
    ConfigDocument eu = begun("eu").document();
    ConfigDocument changed = eu.putRegions("us", table("{eu: {weight: 0.1}, us: {weight: 0.9}}"));
    assertThat(changed.regions().self()).isEqualTo("eu");
    assertThat(changed.regions().weight(changed.plan("free").orElseThrow())).isEqualTo(100_000);
  }

  @Example
  void tableStaysWhileWeightsHaveMoved() {
    ConfigDocument one =
        Seed.adding(PlansFile.example()).appliedTo(Optional.empty(), "me").document();
    ConfigDocument divided = one.putRegions("eu", table("{eu: {weight: 0.5}, us: {weight: 0.5}}"));
    assertThat(divided.putRegions("eu", RegionWeights.NONE).regions()).isEqualTo(Regions.NONE);

    ConfigState moved = with(begun("eu"), divided.learn("us", Map.of("gold", 1L), Map.of()));
    String refusal = "regions: cannot be left out, since weights have moved between regions";
    assertThatThrownBy(() -> moved.document().putRegions("eu", RegionWeights.NONE))
        .isInstanceOf(ConfigRefusedException.class)
        .hasMessage(refusal);
    Seed without = new Seed(PlansFile.example(), true, "eu");
    assertThatThrownBy(() -> without.appliedTo(Optional.of(moved), "me")).hasMessage(refusal);
  }

  @Example
  void whatWasGivenTooMuchOfIsInTheWayOfNoOtherChange() {
    ConfigDocument us = begun("us").document().learn("eu", Map.of(), Map.of("free", 500_000L));
    Plan free = us.plan("free").orElseThrow();
    assertThat(us.regions().overdrawn(free)).isEqualTo(100_000);
    assertThat(us.regions().weight(free)).isZero();

    us.putPlan(PlanFormat.parse("split", Map.of("rate", 7)));
    us.putPlan(PlanFormat.parse("free", Map.of("rate", 7)));
    us.give("eu", Map.of("quota", 100_000L));
    us.putRegions("us", table("{eu: {weight: 0.55}, us: {weight: 0.45}}"));
    assertThatThrownBy(() -> us.give("eu", Map.of("free", 500_001L)))
        .hasMessageContaining("plans.free: the weight of 'us' must be at least 0.500001");
    assertThatThrownBy(() -> us.putRegions("us", table("{eu: {weight: 0.6}, us: {weight: 0.3}}")))
        .hasMessageContaining("plans.free: the weight of 'us' must be at least 0.5");
  }

  @Example
  void givingIsNeverUndone() {
    ConfigState eu = begun("eu");
    ConfigState given = with(eu, eu.document().give("us", Map.of("free", 200_000L)));

    ConfigDocument again = given.document().give("us", Map.of("free", 150_000L));

    assertThat(again).isEqualTo(given.document());
  }

  @Example
  void nothingIsGivenThatIsNotThere() {
    ConfigDocument us = begun("us").document();
    assertThatThrownBy(() -> us.give("eu", Map.of("free", 400_001L)))
        .isInstanceOf(ConfigRefusedException.class)
        .hasMessageContaining(
            "plans.free: the weight of 'us' must be at least 0.400001, which it has given");
    assertThat(quotas(with(begun("us"), us.give("eu", Map.of("free", 400_000L))), "free"))
        .containsExactly(0L);
  }

  @Example
  void receivedTotalsCountOnce() {
    ConfigState us = begun("us");
    ConfigState told = with(us, us.document().learn("eu", Map.of("free", 100_000L), Map.of()));
    ConfigState late = with(told, told.document().learn("eu", Map.of("free", 50_000L), Map.of()));

    assertThat(quotas(told, "free")).containsExactly(50L);
    assertThat(late).isEqualTo(told);
  }

  @Example
  void whatARegionForgotItLearnsFromWhoHasIt() {
    ConfigState fresh = begun("eu");
    ConfigState learnt = with(fresh, fresh.document().learn("us", Map.of(), Map.of("free", 9L)));
    assertThat(learnt.document().regions().ledger().givenTo("us")).containsEntry("free", 9L);
  }

  @Example
  void tableCannotTakeBackWhatWasGiven() {
    ConfigDocument given = begun("eu").document().give("us", Map.of("free", 300_000L));
    assertThatThrownBy(
            () -> given.putRegions("eu", table("{eu: {weight: 0.2}, us: {weight: 0.8}}")))
        .isInstanceOf(ConfigRefusedException.class)
        .hasMessageContaining("plans.free: the weight of 'eu' must be at least 0.3");
    ConfigDocument lower = given.putRegions("eu", table("{eu: {weight: 0.3}, us: {weight: 0.7}}"));
    assertThat(lower.regions().weight(lower.plan("free").orElseThrow())).isZero();
  }

  @Example
  void tableHasTheRegionItselfAndThoseOfThePlans() {
    ConfigDocument eu = begun("eu").document();
    assertThatThrownBy(() -> eu.putRegions("eu", table("{us: {weight: 0.4}}")))
        .hasMessageContaining("regions: must have 'eu', which this region is")
        .hasMessageContaining("plans.split.regions.eu: is not in the table of regions: us");
  }

  @Example
  void keyMayHaveWeightsOfItsOwnThatDoNotMove() {
    ConfigState eu = begun("eu");
    KeySetting setting =
        KeyFormat.parse(Map.of("limit", 10, "regions", Map.of("eu", 1, "us", 0)), 0);
    eu.document().checkSetting("acme", setting, Optional.empty());
    ConfigState own = eu.withKeys(Map.of("acme", setting));
    ConfigState moved = with(own, own.document().give("us", Map.of("free", 300_000L)));

    Plan free = PLANS.plans().get("free");
    assertThat(quotas(moved.snapshot().ownPlan("acme", free).orElseThrow())).containsExactly(10L);
    assertThat(moved.snapshot().ownPlan("other", free)).isEmpty();
  }

  @Example
  void weightsOfAKeyAloneLeaveItTheNumbersOfItsPlan() {
    ConfigState eu = begun("eu");
    KeySetting setting = KeyFormat.parse(Map.of("regions", Map.of("eu", 0.5)), 0);
    ConfigState own = eu.withKeys(Map.of("acme", setting));

    Plan quota = PLANS.plans().get("quota");
    assertThat(quotas(own.snapshot().ownPlan("acme", quota).orElseThrow()))
        .containsExactly(100L, 500L);
    KeyOverride override = setting.override().orElseThrow();
    assertThat(KeyFormat.read(KeyFormat.write(override))).isEqualTo(override);
  }

  @Example
  void weightsOfAKeyDoNotEndAndNameRegionsOfTheTable() {
    assertThatThrownBy(
            () ->
                KeyFormat.parse(
                    Map.of("limit", 1, "regions", Map.of("eu", 1), "expires_in", "1s"), 0))
        .hasMessageContaining("regions: cannot stand beside expires_in");
    KeySetting setting = KeyFormat.parse(Map.of("regions", Map.of("mars", 1)), 0);
    assertThatThrownBy(() -> begun("eu").document().checkSetting("acme", setting, Optional.empty()))
        .hasMessageContaining("regions.mars: is not in the table of regions: eu, us");
  }

  @Example
  void errorsAreToldByTheirPaths() {
    assertThatThrownBy(
            () ->
                PlansFile.parse(
                    """
                    plans:
                      a: {rate: 1, regions: {eu: 0.5, us: 0.6}}
                      b: {rate: 1, regions: {ap: 0.5}}
                      c: {rate: 1, regions: {eu: 0.1234567, us: x}}
                      d: {rate: 1, regions: 5}
                      e: {unlimited: true, regions: {eu: 1}}
                    regions: {eu: {weight: 0.6, x: 1}, us: {}, ap 1: {weight: 0}, me: 1}
                    """))
        .isInstanceOfSatisfying(
            ConfigRefusedException.class,
            refused ->
                assertThat(refused.errors())
                    .contains(
                        "plans.a.regions: must be at most 1 together, was 1.1",
                        "plans.c.regions.eu: must be a number from 0 to 1 with at most 6 decimals,"
                            + " was 0.1234567",
                        "plans.c.regions.us: must be a number from 0 to 1 with at most 6 decimals,"
                            + " was 'x'",
                        "plans.d.regions: must be a map, was 5",
                        "plans.e.regions: is unknown; known: unlimited alone",
                        "regions.eu.x: is unknown; known: weight",
                        "regions.us.weight: is missing",
                        "regions.ap 1: the name of a region must be 1 to 64 letters, digits, '_',"
                            + " '.' or '-'",
                        "regions.me: must be a map, was 1"));
    assertThatThrownBy(() -> PlansFile.parse("plans: {a: {rate: 1, regions: {eu: 1}}}"))
        .hasMessageContaining("plans.a.regions.eu: is not in the table of regions, which is empty");
    assertThatThrownBy(
            () ->
                PlansFile.parse(
                    "plans: {a: {rate: 1}}\nregions: {eu: {weight: 0.7}, us: {weight: 0.300001}}"))
        .hasMessageContaining("regions: must be at most 1 together, was 1.000001");
  }

  @Example
  void documentIsReadBackAsItWas() {
    ConfigDocument document =
        begun("eu")
            .document()
            .give("us", Map.of("free", 100_000L))
            .learn("us", Map.of("split", 7L), Map.of());
    assertThat(
            ConfigDocument.parse(
                new JsonObject(new JsonObject(document.format()).encode()).getMap()))
        .isEqualTo(document);
  }

  @Example
  void laterFileAddsATableButReplacesNone() {
    ConfigState one = Seed.adding(PlansFile.example()).appliedTo(Optional.empty(), "me");
    ConfigState divided = new Seed(PLANS, false, "us").appliedTo(Optional.of(one), "me");
    assertThat(divided.document().regions().self()).isEqualTo("us");

    PlansFile other = PlansFile.parse("plans: {a: {rate: 1}}\nregions: {us: {weight: 1}}");
    ConfigState added = new Seed(other, false, "us").appliedTo(Optional.of(divided), "me");
    assertThat(added.document().regions()).isEqualTo(divided.document().regions());
    ConfigState replaced = new Seed(other, true, "us").appliedTo(Optional.of(divided), "me");
    assertThat(replaced.document().regions().table().of("us")).isEqualTo(RegionWeights.WHOLE);
  }

  @Example
  void weightsAreWrittenAsTheyWereGiven() {
    assertThat(table("{eu: {weight: 0.600000}, us: {weight: 1e-6}}").formatTable())
        .hasToString("{eu={weight=0.6}, us={weight=0.000001}}");
    assertThat(RegionWeights.asNumber(600_000)).isCloseTo(0.6, within(1e-12));
  }

  private static RegionWeights table(String yaml) {
    @SuppressWarnings("unchecked")
    Map<String, Object> members = (Map<String, Object>) YamlText.read(yaml);
    return RegionWeights.parseTable(members);
  }
}
