package dev.weir.config;

import io.vertx.core.Future;
import java.util.function.Consumer;

/**
 * The shared configuration, as one node sees and changes it. Safe to use from any thread.
 *
 * <p>A change is complete when it is in force on this node and handed to the others, which apply it
 * within a second. It fails with {@link ConfigRefusedException}, and then changes nothing. It fails
 * with any other exception if the cluster did not answer in time; it may then be in force later.
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
  Future<Void> putPlan(Plan plan);

  /** Removes a plan; refused with 404 if there is none, 409 while a key or the default uses it. */
  Future<Void> deletePlan(String name);

  /** Sets an endpoint's weight, permits. */
  Future<Void> putEndpoint(String endpoint, long weight);

  /** Puts {@code key} on {@code plan}; refused with 404 if there is no such plan. */
  Future<Void> assign(String key, String plan);

  /** Puts {@code key} back on the default plan; no error if it is there already. */
  Future<Void> unassign(String key);
}
