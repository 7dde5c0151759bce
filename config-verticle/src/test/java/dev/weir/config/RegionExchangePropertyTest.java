package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.RegionQuestion.Need;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * Regions that exchange weights through a network that loses, delays, repeats and reorders what
 * they say, whose clusters split and merge, whose nodes are killed and come back with what is on
 * their disks, and whose operators lower a weight and then raise another: the weights that are
 * enforced are never more than all, and they follow the demand once the regions can talk.
 */
class RegionExchangePropertyTest {

  private static final String PLAN = "gold";
  private static final int STEPS = 400;
  private static final int ROUNDS = 100;

  @Property(tries = 500)
  void weightsAreNeverMoreThanAllWhateverCannotTalk(
      @ForAll @IntRange(min = 2, max = 4) int regions,
      @ForAll @IntRange(min = 1, max = 3) int nodes,
      @ForAll Random random) {
    World world = new World(regions, nodes, random);
    for (int i = 0; i < STEPS; i++) {
      world.step();
      if (random.nextInt(20) == 0) {
        world.changeTables();
      }
      assertThat(world.enforced()).as("step %s", i).isLessThanOrEqualTo(RegionWeights.WHOLE);
    }
  }

  @Property(tries = 20)
  void weightsFollowTheDemandOnceRegionsCanTalk(
      @ForAll @IntRange(min = 2, max = 4) int regions, @ForAll Random random) {
    World world = new World(regions, 2, random);
    for (int i = 0; i < STEPS; i++) {
      world.step();
    }
    world.heal();
    for (int i = 0; i < ROUNDS; i++) {
      world.exchangeAll();
      assertThat(world.enforced()).isLessThanOrEqualTo(RegionWeights.WHOLE);
    }
    world.assertFollowsDemand();
  }

  @Property
  void ruleMovesAStepAtMostAndLeavesBothSome(
      @ForAll @IntRange(max = 1_000_000) int base,
      @ForAll @IntRange(max = 500_000) int giverWeight,
      @ForAll @IntRange(max = 500_000) int takerWeight,
      @ForAll @IntRange(max = 1000) int giverDemand,
      @ForAll @IntRange(max = 1000) int takerDemand) {
    Need giver = new Need(giverWeight, giverDemand);
    Need taker = new Need(takerWeight, takerDemand);

    long kept = GivingRule.kept(base);
    long given = GivingRule.gives(kept, giver, taker);

    assertThat(given).isBetween(0L, GivingRule.STEP);
    if (given > 0) {
      assertThat(giverWeight - given).isGreaterThanOrEqualTo(kept);
      // Never so much that the other would have to give it back.
      Need less = new Need(giverWeight - given, giverDemand);
      Need more = new Need(takerWeight + given, takerDemand);
      assertThat(GivingRule.gives(0, more, less)).isZero();
    }
  }

  /** What is said between regions, and may be heard at any time, or never, or twice. */
  private sealed interface Message {
    int to();
  }

  private record Asked(int to, RegionQuestion question) implements Message {}

  private record Told(int to, String from, Map<String, Long> given) implements Message {}

  private static final class World {
    final Random random;
    final List<Region> regions = new ArrayList<>();
    final List<Message> underWay = new ArrayList<>();

    World(int count, int nodes, Random random) {
      this.random = random;
      Map<String, Long> weights = new HashMap<>();
      for (int i = 0; i < count; i++) {
        weights.put("r" + i, RegionWeights.WHOLE / count);
      }
      for (int i = 0; i < count; i++) {
        regions.add(new Region("r" + i, new RegionWeights(weights), nodes, random));
      }
    }

    long enforced() {
      return regions.stream().mapToLong(Region::enforced).sum();
    }

    void step() {
      Region region = regions.get(random.nextInt(regions.size()));
      switch (random.nextInt(20)) {
        case 0, 1, 2, 3 -> ask(region, regions.get(random.nextInt(regions.size())));
        case 4, 5, 6, 7, 8 -> hear();
        case 9, 10, 11, 12, 13, 14, 15 -> region.settleSome();
        case 16 -> region.settle();
        case 17 -> region.disturb();
        case 18 -> region.anyUp().putSomething();
        default -> region.demand = random.nextInt(100);
      }
    }

    void ask(Region asking, Region asked) {
      if (asking != asked) {
        underWay.add(new Asked(regions.indexOf(asked), asking.anyUp().question(asked.name)));
      }
    }

    void hear() {
      if (underWay.isEmpty()) {
        return;
      }
      int index = random.nextInt(underWay.size());
      // Some are heard twice, or once more much later, and some never.
      Message message = random.nextInt(4) == 0 ? underWay.get(index) : underWay.remove(index);
      if (random.nextInt(5) != 0) {
        regions.get(message.to()).anyUp().hear(message).ifPresent(this::answer);
      }
    }

    void answer(Told told) {
      underWay.add(told);
    }

    /** Lowers the weight of one region; when all of it has that, raises the weight of another. */
    void changeTables() {
      Region lowered = regions.get(random.nextInt(regions.size()));
      Region raised = regions.get(random.nextInt(regions.size()));
      if (lowered != raised && lowered.isWhole()) {
        lowered.settle();
        long base = lowered.anyUp().base();
        long less = random.nextLong(base + 1);
        if (lowered.anyUp().putWeight(base - less, regions)) {
          lowered.settle();
          Node node = raised.anyUp();
          node.putWeight(Math.min(RegionWeights.WHOLE, node.base() + less), regions);
        }
      }
    }

    void heal() {
      regions.forEach(Region::heal);
      underWay.clear();
    }

    void exchangeAll() {
      for (Region asking : regions) {
        for (Region asked : regions) {
          ask(asking, asked);
          List<Message> said = List.copyOf(underWay);
          underWay.clear();
          said.stream()
              .flatMap(message -> regions.get(message.to()).anyUp().hear(message).stream())
              .forEach(told -> regions.get(told.to()).anyUp().hear(told));
          regions.forEach(Region::heal);
        }
      }
    }

    void assertFollowsDemand() {
      double demand = regions.stream().mapToDouble(region -> region.demand).sum();
      if (demand == 0) {
        return;
      }
      double floors =
          regions.stream().filter(region -> region.demand == 0).count()
              * GivingRule.KEPT
              * RegionWeights.WHOLE
              / regions.size();
      for (Region region : regions) {
        double due = region.demand / demand * RegionWeights.WHOLE;
        // Each pair of regions may be off by what is not worth a move.
        double slack = GivingRule.SLACK * RegionWeights.WHOLE * regions.size() + floors;
        assertThat((double) region.enforced())
            .as("%s of demands %s", region.name, regions.stream().map(r -> r.demand).toList())
            .isBetween(due - slack, due + slack);
      }
    }
  }

  /** The nodes of one region, in one or two parts that do not see each other. */
  private static final class Region {
    final String name;
    final Random random;
    final List<Node> nodes = new ArrayList<>();
    List<Part> parts = new ArrayList<>();
    int demand = 10;

    Region(String name, RegionWeights table, int count, Random random) {
      this.name = name;
      this.random = random;
      PlansFile plans =
          PlansFile.of(
              Map.of(
                  "plans",
                  Map.of(PLAN, Map.of("rate", 1_000_000)),
                  "regions",
                  table.formatTable()));
      ConfigDocument first = ConfigDocument.first(plans, name, "first");
      Part whole = new Part(first);
      for (int i = 0; i < count; i++) {
        Node node = new Node(this, name + "-" + i, first, whole);
        nodes.add(node);
        whole.members.add(node);
        whole.statuses.put(node.name, node.status());
      }
      parts.add(whole);
    }

    long enforced() {
      return nodes.stream().filter(Node::up).mapToLong(Node::weight).max().orElse(0);
    }

    Node anyUp() {
      List<Node> up = nodes.stream().filter(Node::up).toList();
      return up.get(random.nextInt(up.size()));
    }

    /** All that nodes do in time, done. */
    void settle() {
      for (Part part : parts) {
        part.members.forEach(Node::read);
        part.members.forEach(Node::read);
        part.members.forEach(Node::save);
        part.members.forEach(Node::publish);
      }
    }

    /** One thing that a node does in time. */
    void settleSome() {
      Node node = anyUp();
      switch (random.nextInt(3)) {
        case 0 -> node.read();
        case 1 -> node.save();
        default -> node.publish();
      }
    }

    boolean isWhole() {
      return parts.size() == 1 && parts.get(0).members.size() == nodes.size();
    }

    void disturb() {
      boolean whole = isWhole();
      switch (random.nextInt(4)) {
        case 0 -> {
          if (whole) {
            split();
          }
        }
        case 1 -> {
          if (whole) {
            crash();
          }
        }
        case 2 -> {
          if (whole) {
            kill(anyUp());
          }
        }
        default -> merge();
      }
    }

    void split() {
      Part whole = parts.get(0);
      Part other = new Part(whole.document);
      other.statuses.putAll(whole.statuses);
      for (Node node : List.copyOf(whole.members)) {
        if (random.nextBoolean() && whole.members.size() > 1) {
          whole.members.remove(node);
          other.members.add(node);
          node.part = other;
        }
      }
      if (!other.members.isEmpty()) {
        whole.missing = other.members.size();
        other.missing = whole.members.size();
        parts.add(other);
      }
    }

    void kill(Node node) {
      Part part = parts.get(0);
      if (part.members.size() > 1) {
        part.members.remove(node);
        part.statuses.remove(node.name);
        part.missing = 1;
        node.part = null;
      }
    }

    /** Kills all at once, and starts one of them. */
    void crash() {
      // One that was away while its region gave goes on from what it knew: the page says so.
      List<Node> current = nodes.stream().filter(node -> !node.behind).toList();
      if (current.isEmpty()) {
        return;
      }
      Node first = current.get(random.nextInt(current.size()));
      Part part = new Part(first.disk);
      parts = new ArrayList<>(List.of(part));
      nodes.forEach(node -> node.part = null);
      first.startIn(part);
    }

    /** The parts become one, who is down comes back, and all of them settle. */
    void heal() {
      merge();
      settle();
    }

    void merge() {
      Part into = parts.get(0);
      for (Part part : List.copyOf(parts.subList(1, parts.size()))) {
        into.document = higher(into.document, part.document);
        into.statuses.putAll(part.statuses);
        part.members.forEach(node -> node.part = into);
        into.members.addAll(part.members);
        parts.remove(part);
      }
      into.missing = 0;
      nodes.stream().filter(node -> !node.up()).forEach(node -> node.startIn(into));
    }

    static ConfigDocument higher(ConfigDocument one, ConfigDocument other) {
      return other.version() > one.version() ? other : one;
    }
  }

  /** Nodes that see each other, and what they share. */
  private static final class Part {
    final List<Node> members = new ArrayList<>();
    final Map<String, NodeStatus> statuses = new HashMap<>();
    ConfigDocument document;
    int missing;

    Part(ConfigDocument document) {
      this.document = document;
    }

    long base() {
      return document.regions().table().of(document.regions().self());
    }
  }

  private static final class Node implements Membership {
    final Region region;
    final String name;
    ConfigDocument inForce;
    ConfigDocument disk;
    Part part;

    /** Whether it was away, and has not written down what it found since. */
    boolean behind;

    Node(Region region, String name, ConfigDocument first, Part part) {
      this.region = region;
      this.name = name;
      this.inForce = first;
      this.disk = first;
      this.part = part;
    }

    boolean up() {
      return part != null;
    }

    long weight() {
      return inForce.regions().weight(inForce.plans().get(PLAN));
    }

    ConfigSnapshot snapshot() {
      return new ConfigState(inForce, KeyMap.none(), KeyMap.none()).snapshot();
    }

    /** As a node does that starts: the higher of what it knows and of what is there. */
    void startIn(Part joined) {
      part = joined;
      behind = joined.members.size() > 0;
      ConfigDocument higher = Region.higher(joined.document, disk);
      ConfigDocument all = higher.keepingMovesOf(joined.document).keepingMovesOf(disk);
      change(higher, all);
      inForce = joined.document;
      joined.members.add(this);
      publish();
    }

    /** As the reader does: the higher version, and nothing that has moved is lost. */
    void read() {
      if (part.document.version() < inForce.version()) {
        ConfigDocument there = part.document;
        part.document = inForce;
        change(inForce, inForce.keepingMovesOf(there));
      } else if (!part.document.keepsMovesOf(inForce)) {
        change(part.document, part.document.keepingMovesOf(inForce));
      }
      inForce = part.document;
    }

    void save() {
      disk = inForce;
      behind = false;
    }

    void change(ConfigDocument before, ConfigDocument after) {
      part.document = after.equals(before) ? before : after.next(name);
    }

    long base() {
      return part.base();
    }

    /** Whether the region could be given another weight of its own. */
    boolean putWeight(long own, List<Region> regions) {
      Map<String, Long> weights = new HashMap<>();
      for (Region each : regions) {
        weights.put(each.name, (RegionWeights.WHOLE - own) / (regions.size() - 1));
      }
      weights.put(region.name, own);
      try {
        change(part.document, part.document.putRegions(region.name, new RegionWeights(weights)));
        return true;
      } catch (ConfigRefusedException e) {
        return false;
      }
    }

    /** A change that has nothing to do with regions, so that versions of parts do not tell all. */
    void putSomething() {
      change(part.document, part.document.putEndpoint("any", region.random.nextInt(1000)));
    }

    NodeStatus status() {
      return new NodeStatus(
          name,
          inForce.version(),
          inForce.regions().ledger().givenDigest(),
          disk.regions().ledger().givenDigest(),
          region.name,
          0,
          "up");
    }

    RegionQuestion question(String other) {
      return new RegionQuestion(
          region.name,
          Map.of(PLAN, new Need(weight(), region.demand)),
          inForce.regions().ledger().receivedFrom(other));
    }

    Optional<Told> hear(Message message) {
      if (message instanceof Told told) {
        change(part.document, part.document.learn(told.from(), told.given(), Map.of()));
        return Optional.empty();
      }
      RegionQuestion question = ((Asked) message).question();
      RegionOffer offer =
          RegionOffer.to(
              question,
              snapshot(),
              Map.of(PLAN, (double) region.demand),
              RegionOffer.unsettled(this, inForce.regions()).isEmpty());
      change(part.document, part.document.learn(question.region(), Map.of(), offer.forgotten()));
      try {
        change(part.document, part.document.give(question.region(), offer.raised()));
      } catch (ConfigRefusedException e) {
        // Another node was faster.
      }
      int asker = Integer.parseInt(question.region().substring(1));
      return Optional.of(new Told(asker, region.name, offer.told()));
    }

    @Override
    public int nodes() {
      return part.members.size();
    }

    @Override
    public int leasing() {
      return part.members.size() + part.missing;
    }

    @Override
    public List<NodeStatus> members() {
      return Stream.of(part)
          .flatMap(shared -> shared.members.stream())
          .flatMap(node -> Stream.ofNullable(part.statuses.get(node.name)))
          .toList();
    }

    @Override
    public void onChange(Runnable listener) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void publish(NodeStatus status) {
      part.statuses.put(name, status);
    }

    void publish() {
      publish(status());
    }
  }
}
