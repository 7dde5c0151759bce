package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.RegionQuestion.Need;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.Example;

/** What a region has for another one that asks. */
class RegionOfferTest {

  private static final String FILE =
      """
      plans:
        big: {rate: 1000, capacity: 1000}
        small: {rate: 10, period: 1m, capacity: 8}
        tiny: {rate: 1, period: 1m, capacity: 1}
        search:
          limits:
            - {name: all, rate: 1000, capacity: 1000}
            - {name: search, endpoints: [search], rate: 10, capacity: 20}
      endpoints: {search: 5, other: 100}
      regions: {eu: {weight: 0.5}, us: {weight: 0.5}}
      """;

  private final ConfigDocument eu =
      new Seed(PlansFile.parse(FILE), false, "eu").appliedTo(Optional.empty(), "me").document();

  private static ConfigSnapshot snapshot(ConfigDocument document) {
    return new ConfigState(document, KeyMap.none(), KeyMap.none()).snapshot();
  }

  /** To a region that takes all that it can get of {@code plan}. */
  private static RegionOffer offer(ConfigDocument giver, String plan) {
    RegionQuestion question =
        new RegionQuestion("us", Map.of(plan, new Need(500_000, 1000)), Map.of());
    return RegionOffer.to(question, snapshot(giver), Map.of(), true);
  }

  /** What is left to a giver that nobody asks for anything. */
  private long kept(String plan) {
    ConfigDocument giver = eu;
    while (true) {
      Map<String, Long> raised = offer(giver, plan).raised();
      if (raised.isEmpty()) {
        return giver.regions().weight(giver.plan(plan).orElseThrow());
      }
      giver = giver.give("us", raised);
    }
  }

  @Example
  void regionKeepsRoomForARequestToEachEndpointThatFitsToBeginWith() {
    // A request of weight 100 that fits a capacity of 500, which is more than a part of 5 %.
    assertThat(kept("big")).isBetween(100_000L, 120_000L);
    // One of weight 100 never fits a capacity of 4, which stays.
    assertThat(kept("small")).isEqualTo(500_000L);
    // Half a permit is none, so that nothing is lost with it.
    assertThat(kept("tiny")).isLessThan(50_000L);
    // One of 5 is what the limit of the endpoint is for: a quarter of 20.
    assertThat(kept("search")).isBetween(250_000L, 270_000L);
  }

  @Example
  void onlyPlansThatAreAskedForAreTold() {
    ConfigDocument given = eu.give("us", Map.of("big", 50_000L, "small", 10_000L));
    assertThat(offer(given, "big").told()).isEqualTo(Map.of("big", 50_000L));
  }

  @Example
  void demandBeyondAllNumbersIsNoFault() {
    RegionQuestion question =
        new RegionQuestion("us", Map.of("big", Need.counted(500_000, Double.MAX_VALUE)), Map.of());
    Map<String, Double> demand = Map.of("big", Double.POSITIVE_INFINITY);
    assertThat(RegionOffer.to(question, snapshot(eu), demand, true).raised()).isEmpty();
    assertThat(Need.counted(1, Double.NaN)).isEqualTo(new Need(1, 0));
  }

  @Example
  void nodesThatDoNotHaveWhatWasGivenAreNamed() {
    String digest = eu.give("us", Map.of("big", 1L)).regions().ledger().givenDigest();
    Regions regions = eu.give("us", Map.of("big", 1L)).regions();
    assertThat(RegionOffer.unsettled(members(0, status(digest, digest)), regions)).isEmpty();
    assertThat(RegionOffer.unsettled(members(0, status("", "")), regions))
        .containsExactly("10.0.0.1:5701");
    assertThat(RegionOffer.unsettled(members(0, status(digest, "")), regions))
        .containsExactly("10.0.0.1:5701");
    assertThat(RegionOffer.unsettled(members(2, status(digest, digest)), regions))
        .containsExactly("2 missing");
  }

  @Example
  void nothingIsSettledOnANodeThatHasNothingOnDisk() {
    String unsaved =
        ConfigVerticle.alone(Seed.adding(PlansFile.example()), Clock.system()).savedGiven();
    assertThat(RegionOffer.unsettled(members(0, status("", unsaved)), eu.regions()))
        .containsExactly("10.0.0.1:5701");
  }

  private static NodeStatus status(String given, String saved) {
    return new NodeStatus("10.0.0.1:5701", 1, given, saved, "eu", 0, "up");
  }

  private static Membership members(int missing, NodeStatus only) {
    return new Membership() {
      @Override
      public int nodes() {
        return 1;
      }

      @Override
      public int leasing() {
        return 1 + missing;
      }

      @Override
      public List<NodeStatus> members() {
        return List.of(only);
      }

      @Override
      public void onChange(Runnable listener) {
        throw new UnsupportedOperationException();
      }

      @Override
      public void publish(NodeStatus status) {
        throw new UnsupportedOperationException();
      }
    };
  }
}
