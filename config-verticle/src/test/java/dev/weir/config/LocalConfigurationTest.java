package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LocalConfigurationTest {

  private final LocalConfiguration configuration = new LocalConfiguration(PlansFile.example());
  private final List<ConfigSnapshot> heard = new ArrayList<>();

  LocalConfigurationTest() {
    configuration.onChange(heard::add);
  }

  @Test
  void itBeginsWithThePlansFile() {
    ConfigSnapshot first = configuration.current();
    assertThat(first.version()).isEqualTo(1);
    assertThat(first.planOf("acme")).map(Plan::name).contains("gold");
    assertThat(first.planOf("anyone")).map(Plan::name).contains("free");
    assertThat(first.weight("search")).isEqualTo(10);
    assertThat(first.weight("health")).isZero();
    assertThat(first.weight("")).isEqualTo(1);
  }

  @Test
  void aChangeIsANewVersionThatListenersHearOf() {
    Plan silver = plan("silver");
    assertDone(configuration.putPlan(silver));
    assertDone(configuration.putEndpoint("upload", 3));

    assertThat(configuration.current().plan("silver")).contains(silver);
    assertThat(configuration.current().weight("upload")).isEqualTo(3);
    assertThat(heard).extracting(ConfigSnapshot::version).containsExactly(2L, 3L);
  }

  @Test
  void aChangeThatChangesNothingIsNoVersion() {
    assertDone(configuration.putPlan(configuration.current().plan("gold").orElseThrow()));
    assertDone(configuration.putEndpoint("search", 10));
    assertDone(configuration.assign("acme", "gold"));
    assertDone(configuration.unassign("nobody"));
    assertThat(heard).isEmpty();
  }

  @Test
  void anAssignmentKeepsTheVersion() {
    assertDone(configuration.assign("newcomer", "gold"));
    assertThat(configuration.current().planOf("newcomer")).map(Plan::name).contains("gold");
    assertDone(configuration.unassign("newcomer"));
    assertThat(configuration.current().planOf("newcomer")).map(Plan::name).contains("free");
    assertThat(heard).extracting(ConfigSnapshot::version).containsExactly(1L, 1L);
  }

  @Test
  void aRefusedChangeChangesNothing() {
    ConfigSnapshot before = configuration.current();
    assertRefused(configuration.deletePlan("none"), 404);
    assertRefused(configuration.deletePlan("free"), 409);
    assertRefused(configuration.deletePlan("gold"), 409);
    assertRefused(configuration.assign("key", "none"), 404);
    assertRefused(configuration.assign("", "gold"), 400);
    assertRefused(configuration.assign("k".repeat(1025), "gold"), 400);
    assertRefused(configuration.assign("\uD800", "gold"), 400);
    assertRefused(configuration.putEndpoint("", 1), 400);
    assertRefused(configuration.putEndpoint("e", -1), 400);
    assertRefused(configuration.putEndpoint("e", 1_000_000_000_001L), 400);

    assertThat(configuration.current()).isSameAs(before);
    assertThat(heard).isEmpty();
  }

  @Test
  void aPlanThatNoKeyIsOnAnyMoreCanBeDeleted() {
    assertDone(configuration.unassign("acme"));
    assertDone(configuration.deletePlan("gold"));
    assertThat(configuration.current().plan("gold")).isEmpty();
  }

  @Test
  void aListenerThatFailsKeepsNothingFromTheOthers() {
    LocalConfiguration deaf = new LocalConfiguration(PlansFile.example());
    deaf.onChange(
        snapshot -> {
          throw new IllegalStateException("deaf");
        });
    deaf.onChange(heard::add);
    assertDone(deaf.putPlan(plan("silver")));
    assertThat(heard).hasSize(1);
  }

  @Test
  void aDocumentReadsBackFromItsMembers() {
    ConfigDocument document = ConfigDocument.first(PlansFile.example()).putPlan(plan("silver"));
    assertThat(ConfigDocument.parse(document.format())).isEqualTo(document);
  }

  private static Plan plan(String name) {
    return PlanFormat.parse(name, Map.of("rate", 5));
  }

  private static void assertDone(Future<Void> change) {
    assertThat(change.succeeded()).isTrue();
  }

  private static void assertRefused(Future<Void> change, int code) {
    assertThat(change.cause())
        .isInstanceOfSatisfying(
            ConfigRefusedException.class,
            e -> {
              assertThat(e.code()).isEqualTo(code);
              assertThat(e.errors()).hasSize(1);
            });
  }
}
