package dev.weir.config;

import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The shared configuration, as one node sees and changes it. Safe to use from any thread.
 *
 * <p>A change is complete when it is in force on this node and handed to the others, which apply it
 * within a second. It fails with {@link ConfigRefusedException}, and then changes nothing: 409
 * where it comes in the way of changes that other nodes make. It fails with any other exception if
 * the cluster did not answer in time; it may then be in force later. Its result is what was there
 * before.
 */
public interface Configuration {

  /** The configuration in force on this node; one volatile read. */
  ConfigSnapshot current();

  /**
   * Calls {@code listener} after every change, in order, with the snapshot then in force; many
   * changes in a short time may come as one. It is called on any thread, one call at a time, and
   * must not block: the change waits for it.
   */
  void onChange(Consumer<ConfigSnapshot> listener);

  /** Creates the plan or replaces the one of its name. */
  Future<Optional<Plan>> putPlan(Plan plan);

  /**
   * Sets which part of the limits each region enforces. Refused with 409 if {@code region}, which
   * this one is, or one that a plan names, is not in it, or this region would have less than it has
   * given to others; an empty one also while anything has moved.
   */
  Future<Regions> putRegions(String region, RegionWeights table);

  /**
   * Gives weights to the region {@code other}: raises what it was given in all to {@code totals},
   * millionths by plan. Refused with 409 if this region has not as much.
   */
  Future<Regions> give(String other, Map<String, Long> totals);

  /**
   * Takes in what the region {@code other} tells: of what it has given and received in all,
   * millionths by plan, the totals that are higher than those known here.
   */
  Future<Regions> learn(String other, Map<String, Long> received, Map<String, Long> given);

  /** Removes a plan; refused with 404 if there is none, 409 while a key or the default uses it. */
  Future<Plan> deletePlan(String name);

  /** Sets an endpoint's weight, permits. */
  Future<Optional<Long>> putEndpoint(String endpoint, long weight);

  /**
   * Sets what {@code setting} has of {@code key}: its plan, its own numbers, or both; what it has
   * not stays. Refused with 404 if there is no such plan, 400 if the key's plan cannot have such
   * numbers.
   */
  Future<KeySetting> setKey(String key, KeySetting setting);

  /**
   * Does what {@link #setKey} does for many keys, line after line, and all or nothing: refused with
   * 400 and every line that is wrong (the first 100). It gives how many keys are not as before.
   *
   * <p>Reading the lines against the plans takes a second for some hundred thousand of them: not to
   * be called on an event loop. Where the cluster does not answer in time, some of the lines may be
   * in force.
   */
  Future<Integer> setKeys(List<KeyLine> lines);

  /**
   * Puts {@code key} back on the default plan with its numbers; no error if it is there already.
   */
  Future<KeySetting> clearKey(String key);
}
