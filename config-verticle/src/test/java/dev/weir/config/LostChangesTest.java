package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.LostChange.Kind;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class LostChangesTest {

  private static final ConfigState COMMON =
      ConfigState.first(PlansFile.example(), "default", "both");

  private final ConfigState lost =
      changed(
          changed(COMMON, "one", document -> document.putPlan(plan("mine", 1))),
          "one",
          document -> document.putEndpoint("search", 7));
  private final ConfigState kept =
      changed(COMMON, "other", document -> document.putPlan(plan("theirs", 2)));

  @Test
  void onlyChangesOfTheLosingPartAreLost() {
    assertThat(LostChanges.between(lost, kept, Optional.of(COMMON)))
        .containsExactly(
            new LostChange(
                Kind.PLAN,
                "mine",
                Optional.of(new JsonObject(PlanFormat.format(plan("mine", 1)))),
                Optional.empty()),
            new LostChange(
                Kind.ENDPOINT,
                "search",
                Optional.of(new JsonObject().put("weight", 7L)),
                Optional.of(new JsonObject().put("weight", 10L))));
  }

  @Test
  void withoutAForebearAllThatDiffersIsTold() {
    assertThat(LostChanges.between(lost, kept, Optional.empty()))
        .extracting(LostChange::name)
        .containsExactly("mine", "theirs", "search");
  }

  @Test
  void aRemovalIsAChangeToo() {
    ConfigState removed = COMMON.withKeys(Map.of("acme", KeySetting.NONE));
    assertThat(LostChanges.between(removed, kept, Optional.of(COMMON)))
        .containsExactly(
            new LostChange(
                Kind.KEY,
                "acme",
                Optional.empty(),
                Optional.of(new JsonObject().put("tier", "gold"))));
  }

  @Test
  void keysBeyondAHundredAreCounted() {
    Map<String, KeySetting> many = new HashMap<>();
    for (int i = 0; i < 250; i++) {
      many.put("key-" + i, KeySetting.ofPlan("gold"));
    }
    List<LostChange> changes =
        LostChanges.between(COMMON.withKeys(many), kept, Optional.of(COMMON));
    assertThat(changes).hasSize(101);
    assertThat(changes.get(100).kind()).isEqualTo(Kind.MORE_KEYS);
    assertThat(changes.get(100).lost()).contains(new JsonObject().put("keys", 150));
  }

  @Test
  void aLossIsToldOnceOfAllNodesAndAlsoToWhoComesLater() {
    List<String> claimed = new ArrayList<>();
    LossReport first = new LossReport(name -> claimed.add(name));
    LossReport second = new LossReport(name -> !claimed.contains(name));
    List<LostChange> heard = new ArrayList<>();
    first.parted(COMMON);
    ConfigState further = changed(kept, "other", document -> document.putPlan(plan("more", 1)));

    first.tellIfDeparted(lost, further);
    first.onLoss(heard::add);
    assertThat(heard).extracting(LostChange::name).containsExactly("mine", "search");
    second.onLoss(heard::add);
    second.tellIfDeparted(lost, further);
    assertThat(heard).hasSize(2);
  }

  @Test
  void aForebearLosesNothing() {
    LossReport report =
        new LossReport(
            name -> {
              throw new AssertionError(name);
            });
    report.tellIfDeparted(COMMON, kept);
    report.tellIfDeparted(kept, kept);
  }

  @Test
  void partsOfTheSameVersionAreToldApartByWhoWroteIt() {
    ConfigState further = changed(kept, "other", document -> document.putPlan(plan("more", 1)));
    assertThat(further.version()).isEqualTo(lost.version());
    assertThat(further.document().departsFrom(lost.document())).isTrue();
    assertThat(further.document().departsFrom(kept.document())).isFalse();
    ConfigState farAhead = kept;
    for (int i = 0; i < Lineage.MOST_WRITERS + 1; i++) {
      int weight = i;
      farAhead = changed(farAhead, "other", document -> document.putEndpoint("e", weight));
    }
    assertThat(farAhead.document().departsFrom(kept.document())).isFalse();
    assertThat(kept.document().departsFrom(farAhead.document())).isFalse();
  }

  private static ConfigState changed(
      ConfigState before, String writer, UnaryOperator<ConfigDocument> change) {
    return new ConfigState(
            change.apply(before.document()), before.assignments(), before.overrides())
        .nextAfter(before, writer);
  }

  private static Plan plan(String name, int rate) {
    return PlanFormat.parse(name, Map.of("rate", rate));
  }
}
