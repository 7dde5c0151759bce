package dev.weir.config;

import static dev.weir.config.HazelcastNodes.get;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.hazelcast.core.Hazelcast;
import com.hazelcast.map.IMap;
import dev.weir.config.HazelcastNodes.Node;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Three members in one JVM, and a fourth that comes and goes. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ClusterConfigurationIT {

  /**
   * A change is in force within one second by the contract; the rest is for a machine that stands
   * still meanwhile. Less than the time after which a lost event is made good.
   */
  private static final Duration IN_FORCE = Duration.ofSeconds(4);

  private final HazelcastNodes cluster = new HazelcastNodes(4);
  private final List<Node> nodes = new ArrayList<>();

  @BeforeAll
  void start() throws Exception {
    for (int i = 0; i < 3; i++) {
      nodes.add(join(i, PlansFile.example()));
    }
  }

  @AfterAll
  void stop() throws Exception {
    for (Node node : nodes) {
      node.leave();
    }
    cluster.close();
  }

  @Test
  void aChangeOnOneNodeIsInForceOnAllInAMoment() throws Exception {
    Plan silver = plan("silver", 7);
    get(first().putPlan(silver));
    get(first().putEndpoint("report", 25));
    get(first().setKey("Ünïcode {key}:%", KeySetting.ofPlan("silver")));

    assertThat(first().current().planOf("Ünïcode {key}:%")).contains(silver);
    await()
        .atMost(IN_FORCE)
        .untilAsserted(
            () ->
                assertThat(nodes)
                    .extracting(node -> node.config().current())
                    .allSatisfy(
                        snapshot -> {
                          assertThat(snapshot.planOf("Ünïcode {key}:%")).contains(silver);
                          assertThat(snapshot.weight("report")).isEqualTo(25);
                        }));

    get(nodes.get(1).config().clearKey("Ünïcode {key}:%"));
    await()
        .atMost(IN_FORCE)
        .untilAsserted(
            () ->
                assertThat(nodes)
                    .allSatisfy(
                        node ->
                            assertThat(node.config().current().assignments())
                                .doesNotContainKey("Ünïcode {key}:%")));
  }

  @Test
  void aKeyIsClearedEvenWhereTheVersionThatDidSoWasHeardOfFirst() throws Exception {
    get(first().setKey("late", KeySetting.ofPlan("gold")));
    get(first().putEndpoint("late", 3));
    await()
        .untilAsserted(
            () ->
                assertThat(nodes)
                    .extracting(node -> node.config().current())
                    .allSatisfy(
                        snapshot -> {
                          assertThat(snapshot.weight("late")).isEqualTo(3);
                          assertThat(snapshot.assignments()).containsKey("late");
                        }));

    nodes.get(2).hazelcast().getMap("weir.assignments").remove("late");

    await()
        .untilAsserted(
            () ->
                assertThat(nodes)
                    .extracting(node -> node.config().current().assignments().containsKey("late"))
                    .containsOnly(false));
  }

  @Test
  void anOverrideHoldsOnAllNodesUntilItEndsByItselfAndConcernsNoOtherKey() throws Exception {
    KeySetting burst =
        KeyFormat.parse(
            Map.of("limit", 5000, "window", "1m", "expires_in", "2s"), System.currentTimeMillis());
    assertThat(get(first().setKey("burster", burst))).isEqualTo(KeySetting.NONE);

    await()
        .atMost(IN_FORCE)
        .untilAsserted(() -> assertThat(nodes).allSatisfy(node -> hasQuota(node, "burster", 5000)));
    assertThat(nodes).allSatisfy(node -> hasQuota(node, "neighbour", 100));

    await()
        .atMost(IN_FORCE)
        .untilAsserted(
            () ->
                assertThat(nodes)
                    .allSatisfy(
                        node -> {
                          hasQuota(node, "burster", 100);
                          assertThat(node.config().current().overrides())
                              .doesNotContainKey("burster");
                        }));
  }

  @Test
  void theAuditIsSharedAndBoundedAndOutlivesTheNodeThatWroteIt() throws Exception {
    Node fourth = join(3, PlansFile.example());
    AuditLog log = fourth.verticle().auditLog();
    for (int i = 0; i < AuditLog.CAPACITY + 4; i++) {
      get(log.add(new JsonObject().put("number", i)));
    }
    fourth.leave();

    List<JsonObject> changes = get(nodes.get(1).verticle().auditLog().recent());
    assertThat(changes).hasSize(AuditLog.CAPACITY);
    assertThat(changes.get(0).getInteger("number")).isEqualTo(AuditLog.CAPACITY + 3);
    assertThat(changes.get(999).getInteger("number")).isEqualTo(4);
  }

  @Test
  void aPlanAndNumbersAreSetApartAndClearedTogether() throws Exception {
    KeySetting plan = KeySetting.ofPlan("gold");
    KeySetting numbers = KeyFormat.parse(Map.of("capacity", 7), 0);
    get(first().setKey("both", plan));
    assertThat(get(nodes.get(1).config().setKey("both", numbers))).isEqualTo(plan);

    await()
        .atMost(IN_FORCE)
        .untilAsserted(() -> assertThat(nodes).allSatisfy(node -> hasQuota(node, "both", 7)));
    assertThat(nodes.get(2).config().current().planOf("both")).map(Plan::name).contains("gold");

    assertThat(get(nodes.get(2).config().clearKey("both"))).isEqualTo(plan.with(numbers));
    await()
        .atMost(IN_FORCE)
        .untilAsserted(() -> assertThat(nodes).allSatisfy(node -> hasQuota(node, "both", 100)));
    assertRefused(
        first().setKey("both", KeyFormat.parse(Map.of("name", "no", "limit", 1), 0)),
        400,
        "name: must be one of default, was 'no'");
  }

  @Test
  void changesMadeAtTheSameTimeOnDifferentNodesAreAllKept() throws Exception {
    long before = first().current().version();
    List<Future<?>> changes = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      Configuration node = nodes.get(i % 3).config();
      changes.add(node.putPlan(plan("at-once-" + i, i + 1)));
    }
    get(Future.all(changes));

    await()
        .atMost(IN_FORCE)
        .untilAsserted(
            () ->
                assertThat(nodes)
                    .extracting(node -> node.config().current())
                    .allSatisfy(
                        snapshot -> {
                          assertThat(snapshot.plans().keySet())
                              .containsAll(
                                  IntStream.range(0, 60).mapToObj(i -> "at-once-" + i).toList());
                          assertThat(snapshot.version()).isGreaterThanOrEqualTo(before + 60);
                        }));
  }

  @Test
  void listenersHearOfChangesMadeElsewhereInOrder() throws Exception {
    List<Long> versions = new CopyOnWriteArrayList<>();
    nodes.get(2).config().onChange(snapshot -> versions.add(snapshot.version()));
    for (int i = 1; i <= 10; i++) {
      get(first().putPlan(plan("heard", i)));
    }
    await()
        .atMost(IN_FORCE)
        .until(
            () ->
                nodes
                    .get(2)
                    .config()
                    .current()
                    .plan("heard")
                    .equals(Optional.of(plan("heard", 10))));
    assertThat(versions).isSorted().contains(nodes.get(2).config().current().version());
  }

  @Test
  void aBurstOfAssignmentsIsKeptWholeAndMakesFewSnapshots() throws Exception {
    List<ConfigSnapshot> snapshots = new CopyOnWriteArrayList<>();
    nodes.get(1).config().onChange(snapshots::add);
    List<Future<?>> changes = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      changes.add(first().setKey("burst-" + i, KeySetting.ofPlan("gold")));
    }
    get(Future.all(changes));

    await()
        .atMost(IN_FORCE)
        .untilAsserted(
            () ->
                assertThat(nodes.get(1).config().current().assignments().keySet())
                    .containsAll(IntStream.range(0, 1000).mapToObj(i -> "burst-" + i).toList()));
    assertThat(snapshots).hasSizeLessThan(500);
  }

  @Test
  void deletingAPlanIsRefusedWhileAnyNodeUsesIt() throws Exception {
    get(first().putPlan(plan("used", 3)));
    get(nodes.get(1).config().setKey("user", KeySetting.ofPlan("used")));

    assertRefused(
        nodes.get(2).config().deletePlan("used"), 409, "plans.used: keys are assigned to it");
    assertRefused(nodes.get(2).config().deletePlan("free"), 409, "plans.free: is the default plan");
    assertRefused(
        nodes.get(2).config().deletePlan("none"), 404, "plans.none: there is no such plan");

    get(nodes.get(0).config().clearKey("user"));
    get(nodes.get(2).config().deletePlan("used"));
    assertThat(nodes.get(2).config().current().plan("used")).isEmpty();
    assertRefused(
        nodes.get(0).config().setKey("user", KeySetting.ofPlan("used")),
        404,
        "plans.used: there is no such plan");
  }

  @Test
  void noKeyIsLeftOnAPlanThatIsDeletedWhileItIsAssigned() throws Exception {
    for (int i = 0; i < 20; i++) {
      String plan = "raced-" + i;
      String key = "racer-" + i;
      get(first().putPlan(plan(plan, 3)));
      Future<KeySetting> assigned = nodes.get(1).config().setKey(key, KeySetting.ofPlan(plan));
      Future<Plan> deleted = nodes.get(2).config().deletePlan(plan);
      await().until(() -> assigned.isComplete() && deleted.isComplete());

      await()
          .atMost(IN_FORCE)
          .untilAsserted(
              () ->
                  assertThat(nodes)
                      .extracting(node -> node.config().current())
                      .allSatisfy(
                          snapshot -> {
                            assertThat(snapshot.assignments().containsKey(key))
                                .isEqualTo(assigned.succeeded());
                            assertThat(snapshot.plan(plan).isPresent()).isEqualTo(deleted.failed());
                            assertThat(assigned.succeeded() && deleted.succeeded()).isFalse();
                          }));
    }
  }

  @Test
  void aLateNodeTakesWhatIsThereAndAddsWhatIsMissing() throws Exception {
    Plan changed = plan("gold", 77);
    get(first().putPlan(changed));
    PlansFile late =
        PlansFile.parse(
            """
            default_plan: platinum
            plans: {platinum: {rate: 9}, gold: {rate: 1}}
            endpoints: {search: 99, upload: 4}
            keys: {acme: platinum, newcomer: platinum}
            """);
    get(first().setKey("acme", KeySetting.ofPlan("gold")));

    Node node = join(3, late);
    try {
      ConfigSnapshot seen = node.config().current();
      assertThat(seen.plan("gold")).contains(changed);
      assertThat(seen.plan("platinum")).contains(late.plans().get("platinum"));
      assertThat(seen.defaultPlan()).contains("free");
      assertThat(seen.endpoints()).containsEntry("search", 10L).containsEntry("upload", 4L);
      assertThat(seen.assignments())
          .containsEntry("acme", "gold")
          .containsEntry("newcomer", "platinum");
      await()
          .atMost(IN_FORCE)
          .untilAsserted(
              () ->
                  assertThat(first().current())
                      .returns(seen.version(), ConfigSnapshot::version)
                      .satisfies(
                          snapshot -> assertThat(snapshot.assignments()).containsKey("newcomer")));
    } finally {
      node.leave();
    }
  }

  @Test
  void theCountOfNodesFollowsWhoComesAndGoes() throws Exception {
    List<Integer> counts = new CopyOnWriteArrayList<>();
    Membership membership = nodes.get(0).verticle().membership();
    await().atMost(10, SECONDS).until(() -> membership.nodes() == 3);
    membership.onChange(() -> counts.add(membership.leasing()));

    Node fourth = join(3, PlansFile.example());
    assertThat(fourth.verticle().membership().nodes()).isEqualTo(4);
    NodeStatus status =
        new NodeStatus(
            "127.0.0.1:" + cluster.ports().get(3), 5, "digest", "saved", "north", 123, "up");
    fourth.verticle().membership().publish(status);
    await().atMost(IN_FORCE).until(() -> membership.members().contains(status));
    assertThat(membership.nodes()).isEqualTo(4);

    fourth.leave();
    await()
        .atMost(10, SECONDS)
        .untilAsserted(
            () -> {
              assertThat(membership.nodes()).isEqualTo(3);
              assertThat(membership.members()).doesNotContain(status);
              assertThat(counts).containsExactly(4, 3);
            });
  }

  @Test
  void aNodeThatVanishesGoesOnToCountForLeasesUntilOneIsBackInItsPlace() throws Exception {
    Membership membership = nodes.get(0).verticle().membership();
    await().atMost(10, SECONDS).until(() -> membership.nodes() == 3);
    Node fourth = join(3, PlansFile.example());
    NodeStatus status =
        new NodeStatus(
            "127.0.0.1:" + cluster.ports().get(3), 5, "digest", "saved", "north", 123, "up");
    fourth.verticle().membership().publish(status);
    await().atMost(IN_FORCE).until(() -> membership.members().contains(status));

    fourth.hazelcast().getLifecycleService().terminate();
    await().atMost(20, SECONDS).until(() -> membership.nodes() == 3);
    assertThat(membership.leasing()).isEqualTo(4);
    fourth.leave();

    Node again = join(3, PlansFile.example());
    await().atMost(10, SECONDS).until(() -> membership.nodes() == 4);
    assertThat(membership.leasing()).isEqualTo(4);
    again.leave();
    await().atMost(10, SECONDS).until(() -> membership.nodes() == 3);
    assertThat(membership.leasing()).isEqualTo(3);
  }

  @Test
  void aChangeIsNotMadeToLessThanTheNodeKnows() throws Exception {
    IMap<String, String> documents = nodes.get(0).hazelcast().getMap("weir.config");
    String former = documents.get("document");
    get(first().putPlan(plan("recent", 1)));
    await()
        .until(() -> nodes.stream().allMatch(n -> n.config().current().plan("recent").isPresent()));

    documents.lock("document");
    Future<?> change = first().putPlan(plan("next", 1));
    documents.set("document", former);
    documents.unlock("document");

    get(change);
    for (Node node : nodes) {
      await()
          .untilAsserted(
              () -> assertThat(node.config().current().plans()).containsKeys("recent", "next"));
    }
    get(first().deletePlan("recent"));
    get(first().deletePlan("next"));
  }

  @Test
  void aNodeThatHasLostItsClusterKeepsWhatItKnows() throws Exception {
    Node node = join(3, PlansFile.example());
    ConfigSnapshot known = node.config().current();
    node.hazelcast().getLifecycleService().terminate();

    assertThatThrownBy(() -> get(node.config().putPlan(plan("lost", 1))))
        .isInstanceOf(ExecutionException.class);
    assertThat(node.config().current()).isEqualTo(known);
    assertThat(node.verticle().membership().nodes()).isPositive();
    node.leave();
    await().atMost(20, SECONDS).until(() -> nodes.get(0).verticle().membership().nodes() == 3);
  }

  @Test
  void aTakenPortIsAnErrorInsteadOfAnotherPort() {
    assertThatThrownBy(() -> Hazelcast.newHazelcastInstance(cluster.configOf(0)))
        .hasMessageContaining("Port [" + cluster.ports().get(0) + "] is already in use");
  }

  private static void hasQuota(Node node, String key, long quota) {
    ConfigSnapshot snapshot = node.config().current();
    assertThat(snapshot.planOf(key).map(plan -> snapshot.ownPlan(key, plan).orElse(plan)))
        .map(plan -> plan.limits().get(0).algorithm().quota())
        .contains(quota);
  }

  private Configuration first() {
    return nodes.get(0).config();
  }

  private Node join(int index, PlansFile seed) throws Exception {
    return cluster.join(index, Seed.adding(seed));
  }

  private static void assertRefused(Future<?> change, int code, String line) {
    assertThatThrownBy(() -> get(change))
        .cause()
        .isInstanceOfSatisfying(
            ConfigRefusedException.class,
            e -> {
              assertThat(e.code()).isEqualTo(code);
              assertThat(e.errors()).containsExactly(line);
            });
  }

  private static Plan plan(String name, int rate) {
    return PlanFormat.parse(name, Map.of("rate", rate));
  }
}
