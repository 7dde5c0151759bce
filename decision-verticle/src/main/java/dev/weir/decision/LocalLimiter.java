package dev.weir.decision;

import dev.weir.client.CheckRefusedException;
import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.RateLimiter;
import dev.weir.config.Shard;
import dev.weir.decision.StoreDecision.Outcome.Decided;
import dev.weir.lease.KeyRoom;
import dev.weir.lease.Purpose;
import dev.weir.lease.RefillOutcome;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.Optional;

/**
 * The {@link RateLimiter} of a node: the {@link Decider}, with answers that had to wait brought
 * back to the asker's context. Safe to use from any thread.
 */
public final class LocalLimiter implements RateLimiter, KeyInspector, Reservations {

  private final Vertx vertx;
  private final Decider decider;
  private final OnceOutcomes once;

  /**
   * @param recent places of outcomes of requests with an id, 1 or more: see {@link KeyRoom}
   */
  public LocalLimiter(Vertx vertx, Decider decider, int recent) {
    this.vertx = vertx;
    this.decider = decider;
    this.once = new OnceOutcomes(vertx, decider.clock(), recent);
  }

  Decider decider() {
    return decider;
  }

  @Override
  public Future<Decision> check(String key) {
    Future<Decision> decided = decideAtOnce(key, CheckRequest.COST_OF_ENDPOINT);
    return decided != null ? decided : RateLimiter.super.check(key);
  }

  @Override
  public Future<Decision> check(String key, long cost) {
    Future<Decision> decided =
        cost < 0 || cost > CheckRequest.MAX_COST ? null : decideAtOnce(key, cost);
    return decided != null ? decided : RateLimiter.super.check(key, cost);
  }

  /** The decision on a key that is known here, so that it need not be looked at again; or null. */
  private Future<Decision> decideAtOnce(String key, long cost) {
    try {
      Decision decision = decider.decideAtOnce(key, "", cost, "");
      return decision == null ? null : Future.succeededFuture(decision);
    } catch (CheckRefusedException e) {
      return Future.failedFuture(e);
    }
  }

  @Override
  public Future<Decision> check(CheckRequest request) {
    return request.id().isEmpty() ? decide(request) : checkOnce(request);
  }

  private Future<Decision> checkOnce(CheckRequest request) {
    Purpose.Once made = onceOf(request);
    return once.outcome(request.key(), made, Decision.class, () -> decideOnce(request, made));
  }

  private Purpose.Once onceOf(CheckRequest request) {
    return OnceOutcomes.once(request, decider.cost(request), "check");
  }

  /** What no node may decide by itself is made once by the store, for all nodes. */
  private Future<Decision> decideOnce(CheckRequest request, Purpose.Once made) {
    try {
      if (!decider.isDecidedByStore(request)) {
        return decide(request);
      }
      Purpose.Decide purpose = new Purpose.Decide(Optional.empty(), Optional.of(made));
      return inStore(request, purpose).map(Decided::decision);
    } catch (CheckRefusedException e) {
      return Future.failedFuture(e);
    }
  }

  private Future<Decided> inStore(CheckRequest request, Purpose.Decide purpose) {
    Answer<StoreDecision.Outcome> answer = new Answer<>(vertx);
    decider.decideInStore(request, purpose, answer);
    return answer
        .future()
        .compose(
            outcome ->
                outcome instanceof Decided decided
                    ? Future.succeededFuture(decided)
                    : Future.failedFuture(CheckRefusedException.reusedId()));
  }

  /**
   * Looks whether {@code request} can be decided and does nothing else.
   *
   * @throws CheckRefusedException if its key or plan is unknown, or its id was used with another
   */
  void requireDecidable(CheckRequest request) {
    decider.requirePlan(request);
    if (!request.id().isEmpty()) {
      once.requireSame(request.key(), onceOf(request));
    }
  }

  private Future<Decision> decide(CheckRequest request) {
    try {
      Decision decision = decider.decideAtOnce(request);
      if (decision != null) {
        return Future.succeededFuture(decision);
      }
      Answer<Decision> answer = new Answer<>(vertx);
      decision = decider.decideOrWait(request, answer);
      return decision != null ? Future.succeededFuture(decision) : answer.future();
    } catch (CheckRefusedException e) {
      return Future.failedFuture(e);
    }
  }

  /**
   * Has the store, which may have lost its data, told what this node knows of it.
   *
   * @param loss what it is known by; another call for the same one does nothing
   * @param foundHere whether this node found it itself, which counts even if it was told before
   */
  public void carryOver(String loss, boolean foundHere) {
    decider.carryOver(loss, foundHere);
  }

  /** Drops what this node holds, owes and knows of a key that the store has forgotten. */
  public void forget(String key) {
    decider.forget(key);
  }

  /**
   * The {@code most} keys of this node that took the most permits lately, or were denied the most.
   */
  public HotKeyCounts hotKeys(int most) {
    return decider.hotKeys(most);
  }

  @Override
  public Future<Reserved> reserve(CheckRequest request, Duration life) {
    if (request.id().isEmpty()) {
      return reserve(request, life, Optional.empty());
    }
    Purpose.Once made =
        OnceOutcomes.once(request, decider.cost(request), "reserve " + life.toMillis());
    return once.outcome(
        request.key(), made, Reserved.class, () -> reserve(request, life, Optional.of(made)));
  }

  private Future<Reserved> reserve(
      CheckRequest request, Duration life, Optional<Purpose.Once> made) {
    try {
      if (decider.cost(request) == 0) {
        throw CheckRefusedException.badRequest("cost: must be 1 or more, there is nothing to hold");
      }
      String unique = ReservationId.newUnique();
      if (!decider.isLimited(request)) {
        return decide(request).map(decision -> reserved(decision, notHeld(unique, decision)));
      }
      Purpose.Reservation reservation = new Purpose.Reservation(unique, life);
      return inStore(request, new Purpose.Decide(Optional.of(reservation), made))
          .map(
              decided ->
                  reserved(
                      decided.decision(),
                      decided
                          .reservation()
                          .map(held -> held(held, decided.decision()))
                          .orElseGet(() -> notHeld(unique, decided.decision()))));
    } catch (CheckRefusedException e) {
      return Future.failedFuture(e);
    }
  }

  private static ReservationId held(StoreDecision.Held held, Decision decision) {
    return new ReservationId(true, held.id(), decision.key(), decision.plan(), held.shard());
  }

  private static ReservationId notHeld(String unique, Decision decision) {
    return new ReservationId(false, unique, decision.key(), decision.plan(), Shard.WHOLE);
  }

  private static Reserved reserved(Decision decision, ReservationId id) {
    return new Reserved(decision, decision.allowed() ? Optional.of(id) : Optional.empty());
  }

  @Override
  public Future<Settled> settle(ReservationId id, long spent) {
    if (!id.held()) {
      return Future.succeededFuture(new Settled(Settlement.SETTLED, 0));
    }
    Answer<Settled> answer = new Answer<>(vertx);
    decider.settle(
        id.key(),
        id.shard(),
        id.plan(),
        new Purpose.Settle(id.unique(), spent),
        outcome -> answer.accept(settled(outcome)));
    return answer.future();
  }

  private static Settled settled(RefillOutcome outcome) {
    if (outcome instanceof RefillOutcome.Settled told) {
      Settlement settlement =
          switch (told.verdict()) {
            case SETTLED -> Settlement.SETTLED;
            case BEFORE -> Settlement.BEFORE;
            case UNKNOWN -> Settlement.UNKNOWN;
            case TOO_MUCH -> Settlement.TOO_MUCH;
          };
      return new Settled(settlement, told.reserved());
    }
    return new Settled(Settlement.UNAVAILABLE, 0);
  }

  @Override
  public Future<KeyLimits> inspect(String key) {
    try {
      Answer<KeyLimits> answer = new Answer<>(vertx);
      decider.inspect(key, answer);
      return answer.future();
    } catch (CheckRefusedException e) {
      return Future.failedFuture(e);
    }
  }
}
