package dev.weir.config;

import static dev.weir.config.HazelcastNodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import com.hazelcast.cluster.Member;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.instance.impl.HazelcastInstanceProxy;
import dev.weir.config.HazelcastNodes.Node;
import dev.weir.config.LostChange.Kind;
import dev.weir.config.RegionLedger.Totals;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of the configuration when nodes stop, start, part and come together again. */
class ClusterRestartIT {

  private static final Seed EXAMPLE = Seed.adding(PlansFile.example());

  private static final Seed DIVIDED =
      Seed.adding(
          PlansFile.parse(
              """
              plans: {gold: {rate: 10}}
              regions: {default: {weight: 0.5}, us: {weight: 0.5}}
              """));

  private static final Seed DIVIDED_US =
      new Seed(
          PlansFile.parse(
              """
              plans: {gold: {rate: 20}, more: {rate: 1}}
              regions: {default: {weight: 0.1}, us: {weight: 0.9}}
              """),
          true,
          "us");

  private static final Duration TOGETHER = Duration.ofSeconds(60);

  @TempDir Path scratch;

  private final HazelcastNodes cluster = new HazelcastNodes(3);
  private final List<Node> nodes = new ArrayList<>();
  private final List<LostChange> losses = new CopyOnWriteArrayList<>();

  @AfterEach
  void stop() throws Exception {
    stopAll();
    cluster.close();
  }

  private void stopAll() throws Exception {
    for (Node node : List.copyOf(nodes)) {
      stop(node);
    }
  }

  private void stop(Node node) throws Exception {
    nodes.remove(node);
    node.leave();
  }

  private Node start(int index, Seed seed) throws Exception {
    Node node = cluster.join(index, seed, each -> each.keptIn(directory(index)));
    node.verticle().onLoss(losses::add);
    nodes.add(node);
    return node;
  }

  private Path directory(int index) {
    return scratch.resolve("node-" + index);
  }

  @Test
  void aClusterThatWasStoppedGoesOnFromTheHighestVersionWhoeverStartsFirst() throws Exception {
    Node first = start(0, EXAMPLE);
    Node second = start(1, EXAMPLE);
    get(first.config().putPlan(plan("early", 1)));
    await().until(() -> second.config().current().plan("early").isPresent());
    stop(second);
    get(first.config().putPlan(plan("late", 2)));
    get(first.config().deletePlan("early"));
    get(first.config().setKey("customer", KeySetting.ofPlan("late")));
    get(first.config().setKey("burster", KeyFormat.parse(Map.of("capacity", 77), 0)));
    get(first.config().clearKey("acme"));
    long version = first.config().current().version();
    stopAll();

    Node older = start(1, EXAMPLE);
    assertThat(older.config().current().plan("early")).isPresent();
    Node newer = start(0, EXAMPLE);

    for (Node node : List.of(older, newer)) {
      await()
          .untilAsserted(
              () -> {
                ConfigSnapshot seen = node.config().current();
                assertThat(seen.version()).isEqualTo(version);
                assertThat(seen.plans()).doesNotContainKey("early").containsKey("late");
                assertThat(seen.assignments()).isEqualTo(Map.of("customer", "late"));
                assertThat(seen.overrides()).containsOnlyKeys("burster");
              });
    }
    assertThat(losses).isEmpty();
  }

  @Test
  void aNodeThatStartsWithAnOlderFileTakesWhatTheClusterHas() throws Exception {
    Node first = start(0, EXAMPLE);
    stop(start(1, EXAMPLE));
    get(first.config().putPlan(plan("since", 1)));

    Node second = start(1, EXAMPLE);
    assertThat(second.config().current()).isEqualTo(first.config().current());
    assertThat(second.config().current().plan("since")).isPresent();
    assertThat(losses).isEmpty();
  }

  @Test
  void aNodeOfAnotherRegionChangesNothing() throws Exception {
    stop(start(1, DIVIDED_US));
    Node first = start(0, DIVIDED);
    ConfigSnapshot before = first.config().current();
    for (int directory : List.of(1, 2)) {
      HazelcastInstance other = Hazelcast.newHazelcastInstance(cluster.configOf(directory));
      try {
        ConfigVerticle verticle =
            ConfigVerticle.clustered(DIVIDED_US, other, Clock.system())
                .keptIn(directory(directory));
        assertThatThrownBy(() -> get(cluster.deploy(verticle)))
            .hasRootCauseMessage(
                "region: must be 'default', which the cluster or data_dir is of, was 'us'");
      } finally {
        other.shutdown();
      }
    }
    get(first.config().putEndpoint("after", 2));
    assertThat(first.config().current().version()).isEqualTo(before.version() + 1);
    assertThat(first.config().current().plans()).isEqualTo(before.plans());
    assertThat(first.config().current().regions()).isEqualTo(before.regions());
  }

  @Test
  void aDamagedFileIsNoReasonNotToStart() throws Exception {
    stop(start(0, EXAMPLE));
    Files.writeString(directory(0).resolve("state"), "weir configuration 1 nonsense\n");

    Node node = start(0, EXAMPLE);
    assertThat(node.config().current().plans()).containsKeys("free", "gold");
    assertThat(directory(0).resolve("state.damaged")).exists();
    await().until(() -> node.verticle().savedVersion() == node.config().current().version());
  }

  @Test
  void anAuthoritativePlansFileReplacesWhatWasKept() throws Exception {
    Node first = start(0, EXAMPLE);
    get(first.config().putPlan(plan("gone", 1)));
    stopAll();

    Seed seed =
        new Seed(PlansFile.parse("plans: {only: {rate: 3}}\nkeys: {acme: only}"), true, "default");
    Node node = start(0, seed);
    assertThat(node.config().current().plans()).containsOnlyKeys("only");
    assertThat(node.config().current().version()).isEqualTo(3);
  }

  @Test
  void afterASplitThePartWithMoreChangesWinsAndThoseOfTheOtherAreTold() throws Exception {
    Node other = start(0, EXAMPLE);
    start(1, EXAMPLE);
    Node alone = start(2, EXAMPLE);
    get(alone.config().putPlan(plan("before", 1)));
    await()
        .until(() -> nodes.stream().allMatch(n -> n.config().current().plan("before").isPresent()));

    part(alone);
    get(alone.config().putPlan(plan("alone", 1)));
    get(alone.config().setKey("acme", KeySetting.ofPlan("alone")));
    get(alone.config().putPlan(plan("before", 3)));
    get(other.config().putPlan(plan("others", 2)));
    get(other.config().setKey("bob", KeySetting.ofPlan("others")));
    ConfigSnapshot won = alone.config().current();
    assertThat(won.version()).isGreaterThan(other.config().current().version());

    heal();

    for (Node node : nodes) {
      await()
          .atMost(TOGETHER)
          .untilAsserted(() -> assertThat(node.config().current()).isEqualTo(won));
    }
    await()
        .untilAsserted(
            () ->
                assertThat(losses)
                    .extracting(LostChange::kind, LostChange::name)
                    .containsExactlyInAnyOrder(tuple(Kind.PLAN, "others"), tuple(Kind.KEY, "bob")));
    get(other.config().putPlan(plan("after", 2)));
    await()
        .until(() -> nodes.stream().allMatch(n -> n.config().current().plan("after").isPresent()));
  }

  @Test
  void afterASplitWithAsManyChangesOnePartWinsAndNothingIsLostUnsaid() throws Exception {
    Node one = start(0, DIVIDED);
    Node other = start(1, DIVIDED);
    part(one);
    get(one.config().putPlan(plan("plan-1", 1)));
    get(one.config().give("us", Map.of("gold", 50_000L)));
    get(other.config().putPlan(plan("plan-2", 2)));
    get(other.config().learn("us", Map.of("gold", 20_000L), Map.of("gold", 30_000L)));

    heal();

    await()
        .atMost(TOGETHER)
        .untilAsserted(
            () -> {
              assertThat(one.config().current()).isEqualTo(other.config().current());
              assertThat(losses).hasSize(1);
              LostChange lost = losses.get(0);
              assertThat(lost.name()).startsWith("plan-");
              assertThat(one.config().current().plans()).hasSize(2).doesNotContainKey(lost.name());
              // What has moved between regions stays, whichever part it moved in.
              assertThat(one.config().current().regions().ledger().of("gold", "us"))
                  .isEqualTo(new Totals(50_000, 20_000));
            });
  }

  /** Has {@code alone} and all the others hold each other for dead, and not look for each other. */
  private void part(Node alone) {
    nodes.forEach(node -> setMembers(node, List.of()));
    for (Node node : nodes) {
      for (Node peer : nodes) {
        if (!node.equals(peer) && (node.equals(alone) || peer.equals(alone))) {
          suspect(node, peer.hazelcast().getCluster().getLocalMember());
        }
      }
    }
    await()
        .atMost(TOGETHER)
        .until(
            () ->
                nodes.stream()
                    .allMatch(
                        node ->
                            node.verticle().membership().nodes()
                                == (node.equals(alone) ? 1 : nodes.size() - 1)));
  }

  private void heal() {
    List<String> all = cluster.ports().stream().map(port -> "127.0.0.1:" + port).toList();
    nodes.forEach(node -> setMembers(node, all));
    await()
        .atMost(TOGETHER)
        .until(
            () ->
                nodes.stream()
                    .allMatch(node -> node.verticle().membership().nodes() == nodes.size()));
  }

  /** By what the node itself knows of the peer, if it still does. */
  private static void suspect(Node node, Member peer) {
    HazelcastInstance instance = node.hazelcast();
    instance.getCluster().getMembers().stream()
        .filter(member -> member.getUuid().equals(peer.getUuid()))
        .forEach(
            member ->
                ((HazelcastInstanceProxy) instance)
                    .getOriginal()
                    .node
                    .getClusterService()
                    .suspectMember(member, "the test parts them", true));
  }

  private static void setMembers(Node node, List<String> members) {
    node.hazelcast().getConfig().getNetworkConfig().getJoin().getTcpIpConfig().setMembers(members);
  }

  private static Plan plan(String name, int rate) {
    return PlanFormat.parse(name, Map.of("rate", rate));
  }
}
