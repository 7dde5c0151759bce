package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LocalConfigurationTest {

  private final AtomicLong now = new AtomicLong(1_000_000);
  private final LocalConfiguration configuration = configuration();
  private final List<ConfigSnapshot> heard = new ArrayList<>();

  LocalConfigurationTest() {
    configuration.onChange(heard::add);
  }

  private LocalConfiguration configuration() {
    return new LocalConfiguration(
        ConfigState.first(PlansFile.example(), "default", "me"),
        "me",
        new Clock() {
          @Override
          public long micros() {
            return 0;
          }

          @Override
          public long epochMillis() {
            return now.get();
          }
        });
  }

  @Test
  void anOverrideHoldsUntilItsTimeIsOver() {
    assertDone(configuration.setKey("acme", numbers("capacity", 5000, "expires_in", "30s")));
    assertDone(configuration.setKey("demo", numbers("capacity", 700, "expires_in", "60s")));
    assertDone(configuration.setKey("lasting", numbers("capacity", 300)));
    assertThat(quota("acme")).isEqualTo(5000);

    now.addAndGet(29_999);
    configuration.endOverrides();
    assertThat(quota("acme")).isEqualTo(5000);
    now.addAndGet(1);
    configuration.endOverrides();
    assertThat(quota("acme")).isEqualTo(1000);
    assertThat(quota("demo")).isEqualTo(700);
    assertThat(configuration.current().overrides()).containsOnlyKeys("demo", "lasting");
    now.addAndGet(30_000);
    configuration.endOverrides();
    assertThat(configuration.current().overrides()).containsOnlyKeys("lasting");
    int changes = heard.size();
    configuration.endOverrides();
    assertThat(heard).hasSize(changes);
  }

  @Test
  void aPlanAndNumbersAreSetApartAndClearedTogether() {
    assertDone(configuration.setKey("key", numbers("capacity", 5)));
    assertDone(configuration.setKey("key", KeySetting.ofPlan("gold")));
    assertThat(configuration.current().planOf("key")).map(Plan::name).contains("gold");
    assertThat(quota("key")).isEqualTo(5);
    assertDone(configuration.setKey("key", numbers("limit", 6, "window", "1m")));
    assertThat(quota("key")).isEqualTo(6);

    assertThat(configuration.clearKey("key").result())
        .isEqualTo(KeySetting.ofPlan("gold").with(numbers("limit", 6, "window", "1m")));
    assertThat(configuration.clearKey("key").result()).isEqualTo(KeySetting.NONE);
    assertThat(quota("key")).isEqualTo(100);
  }

  @Test
  void anOverrideThatThePlanCannotHaveIsRefusedAndChangesNothing() {
    assertDone(configuration.putPlan(Plan.unlimited("internal")));
    ConfigSnapshot before = configuration.current();
    assertRefused(configuration.setKey("acme", numbers("name", "no", "capacity", 5)), 400);
    assertRefused(configuration.setKey("acme", numbers("rate", 1e10)), 400);
    assertRefused(
        configuration.setKey("acme", KeySetting.ofPlan("internal").with(numbers("limit", 5))), 400);
    assertThat(configuration.current()).isSameAs(before);
  }

  private static KeySetting numbers(Object... members) {
    Map<String, Object> body = new LinkedHashMap<>();
    for (int i = 0; i < members.length; i += 2) {
      body.put((String) members[i], members[i + 1]);
    }
    return KeyFormat.parse(body, 1_000_000);
  }

  private long quota(String key) {
    ConfigSnapshot snapshot = configuration.current();
    Plan plan = snapshot.planOf(key).orElseThrow();
    return snapshot.ownPlan(key, plan).orElse(plan).limits().get(0).algorithm().quota();
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
    assertDone(configuration.setKey("acme", KeySetting.ofPlan("gold")));
    assertDone(configuration.clearKey("nobody"));
    assertThat(heard).isEmpty();
  }

  @Test
  void anAssignmentIsANewVersionAsWell() {
    assertDone(configuration.setKey("newcomer", KeySetting.ofPlan("gold")));
    assertThat(configuration.current().planOf("newcomer")).map(Plan::name).contains("gold");
    assertDone(configuration.clearKey("newcomer"));
    assertThat(configuration.current().planOf("newcomer")).map(Plan::name).contains("free");
    assertThat(heard).extracting(ConfigSnapshot::version).containsExactly(2L, 3L);
  }

  @Test
  void manyKeysAreSetAsOneVersionLineAfterLine() {
    List<KeyLine> lines =
        List.of(
            new KeyLine(1, "a", KeySetting.ofPlan("gold")),
            new KeyLine(2, "acme", KeySetting.ofPlan("gold")),
            new KeyLine(4, "a", numbers("capacity", 7)),
            new KeyLine(5, "b", KeySetting.ofPlan("free").with(numbers("capacity", 8))));
    assertThat(configuration.setKeys(lines).result()).isEqualTo(2);

    assertThat(configuration.current().planOf("a")).map(Plan::name).contains("gold");
    assertThat(quota("a")).isEqualTo(7);
    assertThat(quota("b")).isEqualTo(8);
    assertThat(heard).extracting(ConfigSnapshot::version).containsExactly(2L);
    assertThat(configuration.setKeys(lines).result()).isZero();
    assertThat(heard).hasSize(1);
  }

  @Test
  void manyKeysAreRefusedTogetherWithEveryLineThatIsWrong() {
    ConfigSnapshot before = configuration.current();
    List<KeyLine> lines =
        List.of(
            new KeyLine(1, "a", KeySetting.ofPlan("gold")),
            new KeyLine(2, "b", KeySetting.ofPlan("none")),
            new KeyLine(3, "c", numbers("name", "no", "capacity", 5)));
    assertThat(configuration.setKeys(lines).cause())
        .isInstanceOfSatisfying(
            ConfigRefusedException.class,
            e ->
                assertThat(e.errors())
                    .containsExactly(
                        "line 2: plans.none: there is no such plan",
                        "line 3: name: must be one of default, was 'no'"));
    assertThat(configuration.current()).isSameAs(before);
  }

  @Test
  void aRefusedChangeChangesNothing() {
    ConfigSnapshot before = configuration.current();
    assertRefused(configuration.deletePlan("none"), 404);
    assertRefused(configuration.deletePlan("free"), 409);
    assertRefused(configuration.deletePlan("gold"), 409);
    assertRefused(configuration.setKey("key", KeySetting.ofPlan("none")), 404);
    assertRefused(configuration.setKey("", KeySetting.ofPlan("gold")), 400);
    assertRefused(configuration.setKey("k".repeat(1025), KeySetting.ofPlan("gold")), 400);
    assertRefused(configuration.setKey("\uD800", KeySetting.ofPlan("gold")), 400);
    assertRefused(configuration.putEndpoint("", 1), 400);
    assertRefused(configuration.putEndpoint("e", -1), 400);
    assertRefused(configuration.putEndpoint("e", 1_000_000_000_001L), 400);

    assertThat(configuration.current()).isSameAs(before);
    assertThat(heard).isEmpty();
  }

  @Test
  void aPlanThatNoKeyIsOnAnyMoreCanBeDeleted() {
    assertDone(configuration.clearKey("acme"));
    assertDone(configuration.deletePlan("gold"));
    assertThat(configuration.current().plan("gold")).isEmpty();
  }

  @Test
  void aListenerThatFailsKeepsNothingFromTheOthers() {
    LocalConfiguration deaf = configuration();
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
    ConfigDocument document =
        ConfigDocument.first(PlansFile.example(), "default", "me")
            .putPlan(plan("silver"))
            .next("you");
    assertThat(ConfigDocument.parse(document.format())).isEqualTo(document);
  }

  private static Plan plan(String name) {
    return PlanFormat.parse(name, Map.of("rate", 5));
  }

  private static void assertDone(Future<?> change) {
    assertThat(change.succeeded()).isTrue();
  }

  private static void assertRefused(Future<?> change, int code) {
    assertThat(change.cause())
        .isInstanceOfSatisfying(
            ConfigRefusedException.class,
            e -> {
              assertThat(e.code()).isEqualTo(code);
              assertThat(e.errors()).hasSize(1);
            });
  }
}
