package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SeedTest {

  private static final PlansFile FILE =
      PlansFile.parse(
          """
          default_plan: free
          plans: {free: {rate: 1}, gold: {rate: 100}}
          endpoints: {search: 10}
          keys: {acme: gold, bob: gold}
          """);

  private final ConfigState begun = Seed.adding(FILE).appliedTo(Optional.empty(), "me");

  @Test
  void withNothingElseTheFileIsTheFirstVersion() {
    assertThat(begun.version()).isEqualTo(1);
    assertThat(begun.assignments()).isEqualTo(Map.of("acme", "gold", "bob", "gold"));
    assertThat(begun.document().defaultPlan()).contains("free");
  }

  @Test
  void aFileThatWasThereBeforeBringsNothingBackThatWasRemoved() {
    ConfigState changed = begun.withKeys(Map.of("acme", KeySetting.NONE)).nextAfter(begun, "me");
    assertThat(Seed.adding(FILE).appliedTo(Optional.of(changed), "you")).isSameAs(changed);
  }

  @Test
  void anotherFileAddsWhatIsNotThereAndChangesNothingThatIs() {
    PlansFile other =
        PlansFile.parse(
            """
            default_plan: silver
            plans: {silver: {rate: 5}, gold: {rate: 7}}
            endpoints: {search: 99, upload: 4}
            keys: {acme: silver, carol: silver}
            """);
    ConfigState next = Seed.adding(other).appliedTo(Optional.of(begun), "you");
    assertThat(next.version()).isEqualTo(2);
    assertThat(next.document().lineage().writers()).containsExactly("me", "you");
    assertThat(next.document().defaultPlan()).contains("free");
    assertThat(next.document().plans().get("gold")).isEqualTo(FILE.plans().get("gold"));
    assertThat(next.document().plans()).containsOnlyKeys("free", "gold", "silver");
    assertThat(next.document().endpoints()).isEqualTo(Map.of("search", 10L, "upload", 4L));
    assertThat(next.assignments())
        .isEqualTo(Map.of("acme", "gold", "bob", "gold", "carol", "silver"));
    assertThat(Seed.adding(other).appliedTo(Optional.of(next), "she")).isSameAs(next);
    assertThat(Seed.adding(FILE).appliedTo(Optional.of(next), "she")).isSameAs(next);
  }

  @Test
  void anAuthoritativeFileReplacesAllThatAFileCanSay() {
    KeyOverride override = KeyFormat.parse(Map.of("capacity", 7), 0).override().orElseThrow();
    ConfigState before =
        begun
            .withKeys(
                Map.of(
                    "carol",
                    KeySetting.ofPlan("free"),
                    "dave",
                    new KeySetting(Optional.empty(), Optional.of(override))))
            .nextAfter(begun, "me");
    PlansFile file = PlansFile.parse("plans: {only: {rate: 3}}\nkeys: {acme: only}");
    Seed seed = new Seed(file, true, "default");

    ConfigState next = seed.appliedTo(Optional.of(before), "you");
    assertThat(next.version()).isEqualTo(3);
    assertThat(next.document().plans()).containsOnlyKeys("only");
    assertThat(next.document().endpoints()).isEmpty();
    assertThat(next.document().defaultPlan()).isEmpty();
    assertThat(next.assignments()).isEqualTo(Map.of("acme", "only"));
    assertThat(next.overrides()).isEqualTo(Map.of("dave", override));
    assertThat(seed.appliedTo(Optional.of(next), "you").version()).isEqualTo(3);
  }

  @Test
  void filesAreToldApartByWhatTheySay() {
    PlansFile same =
        PlansFile.parse(
            """
            # another comment, another order
            keys: {bob: gold, acme: gold}
            endpoints: {search: 10}
            plans: {gold: {rate: 100, period: 1s}, free: {rate: 1}}
            default_plan: free
            """);
    assertThat(same.digest()).isEqualTo(FILE.digest());
    assertThat(PlansFile.example().digest()).isNotEqualTo(FILE.digest());
  }
}
