package dev.weir.decision;

import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.config.ConfigSnapshot;
import dev.weir.config.Shard;
import dev.weir.lease.LeaseCeiling;
import dev.weir.lease.Refill;
import dev.weir.lease.RefillOutcome;
import dev.weir.lease.Refills;
import dev.weir.lease.Store;
import dev.weir.lease.StoreClock;
import dev.weir.lease.VirtualClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * A node on virtual time: a real {@link Decider} in front of a real store, with a network between
 * that can be held up, cut, or made to lose answers.
 */
final class TestNode implements Refills {

  final Decider decider;
  final VirtualClock clock;
  final CountedUsage usage = new CountedUsage(Duration.ofSeconds(60));
  private final Store store;
  private final Deque<Held> held = new ArrayDeque<>();
  private boolean holding;
  private boolean cut;
  private Shard cutShard = Shard.WHOLE;
  int storeCalls;

  private record Held(Refill refill, Listener listener) {}

  TestNode(VirtualClock clock, Store store, ConfigSnapshot config, int maxKeys) {
    this.clock = clock;
    this.store = store;
    this.decider =
        new Decider(
            clock,
            this,
            LeaseCeiling.of(0.01, Duration.ofSeconds(60)),
            maxKeys,
            config,
            new StoreClock(clock),
            usage);
  }

  // ---- asking

  /** The decision, which must be there at once. */
  Decision check(String key, long cost) {
    return check(CheckRequest.of(key).withCost(cost)).orElseThrow();
  }

  Optional<Decision> check(CheckRequest request) {
    List<Decision> late = ask(request);
    return late.stream().findFirst();
  }

  /** A list that the decision is added to when it comes. */
  List<Decision> ask(CheckRequest request) {
    List<Decision> answers = new ArrayList<>();
    Decision decision = decider.decideAtOnce(request);
    if (decision == null) {
      decision = decider.decideOrWait(request, answers::add);
    }
    if (decision != null) {
      answers.add(decision);
    }
    return answers;
  }

  /** How many of {@code times} checks of cost 1 are allowed. */
  int allowedOf(int times, String key) {
    int allowed = 0;
    for (int i = 0; i < times; i++) {
      if (check(key, 1).allowed()) {
        allowed++;
      }
    }
    return allowed;
  }

  KeyLimits inspect(String key) {
    List<KeyLimits> answers = new ArrayList<>();
    decider.inspect(key, answers::add);
    return answers.get(0);
  }

  /** Does what is done many times a second, and a few times a second. */
  void tend() {
    endLeases();
    decider.tendKeys();
  }

  /** Ends all leases whose time is over. */
  void endLeases() {
    boolean some = decider.endLeases();
    while (some) {
      some = decider.endLeases();
    }
  }

  // ---- the network

  /** From now on refills stay under way. */
  void hold() {
    holding = true;
  }

  /** The deadline of everything under way passes. */
  void overdue() {
    List.copyOf(held).forEach(each -> each.listener.onOverdue());
  }

  /** Carries out all that is under way, and from now on everything at once. */
  void release() {
    holding = false;
    while (!held.isEmpty()) {
      carryOut(held.remove());
    }
  }

  /** The store carries out what is under way, and its answers are lost. */
  void loseAnswers() {
    holding = false;
    while (!held.isEmpty()) {
      Held each = held.remove();
      store.refill(List.of(each.refill));
      each.listener.onOutcome(new RefillOutcome.Unavailable("connection lost", false));
    }
  }

  /** The store carries out what is under way; its answers arrive when {@code meanwhile} is done. */
  void answerLate(Runnable meanwhile) {
    holding = false;
    List<Held> under = List.copyOf(held);
    held.clear();
    List<RefillOutcome> outcomes =
        under.stream().map(each -> store.refill(List.of(each.refill)).get(0).result()).toList();
    meanwhile.run();
    for (int i = 0; i < under.size(); i++) {
      under.get(i).listener.onOutcome(outcomes.get(i));
    }
  }

  /** What is under way is lost, and nobody knows how far it came. */
  void dropRefills() {
    holding = false;
    while (!held.isEmpty()) {
      held.remove().listener.onOutcome(new RefillOutcome.Unavailable("connection lost", false));
    }
  }

  /** Refills on their way to the store. */
  int underWay() {
    return held.size();
  }

  /** From now on nothing reaches the store, and that is known at once. */
  void cut() {
    cut = true;
  }

  /** From now on nothing reaches one sub-counter, and that is known at once. */
  void cut(Shard shard) {
    cutShard = shard;
  }

  void mend() {
    cut = false;
    cutShard = Shard.WHOLE;
  }

  @Override
  public void submit(Refill refill, long wantedAtMicros, Listener listener) {
    if (cut || (refill.shard().of() > 1 && refill.shard().equals(cutShard))) {
      listener.onOutcome(new RefillOutcome.Unavailable("not connected", true));
    } else if (holding) {
      held.add(new Held(refill, listener));
    } else {
      carryOut(new Held(refill, listener));
    }
  }

  private void carryOut(Held each) {
    storeCalls++;
    each.listener.onOutcome(store.refill(List.of(each.refill)).get(0).result());
  }
}
