package dev.weir.config;

import io.vertx.core.Future;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The configuration of a node that is alone. Changes are made under its lock, one after another.
 */
final class LocalConfiguration implements Configuration {

  private static final Logger LOG = LoggerFactory.getLogger(LocalConfiguration.class);

  private final LiveSnapshot live;
  private ConfigDocument document;
  private Assignments assignments;

  LocalConfiguration(PlansFile seed) {
    document = ConfigDocument.first(seed);
    assignments = Assignments.of(seed.keys());
    live = new LiveSnapshot(document.with(assignments));
  }

  @Override
  public ConfigSnapshot current() {
    return live.current();
  }

  @Override
  public void onChange(Consumer<ConfigSnapshot> listener) {
    live.onChange(listener);
  }

  @Override
  public Future<Void> putPlan(Plan plan) {
    return change(before -> before.putPlan(plan));
  }

  @Override
  public synchronized Future<Void> deletePlan(String name) {
    return change(before -> before.deletePlan(name, assignments.containsValue(name)));
  }

  @Override
  public Future<Void> putEndpoint(String endpoint, long weight) {
    return change(before -> before.putEndpoint(endpoint, weight));
  }

  @Override
  public synchronized Future<Void> assign(String key, String plan) {
    try {
      document.checkAssignment(key, plan);
    } catch (ConfigRefusedException e) {
      return Future.failedFuture(e);
    }
    if (!plan.equals(assignments.get(key))) {
      replaceAssignments(assignments.with(key, plan));
    }
    return Future.succeededFuture();
  }

  @Override
  public synchronized Future<Void> unassign(String key) {
    if (assignments.containsKey(key)) {
      replaceAssignments(assignments.without(key));
    }
    return Future.succeededFuture();
  }

  private synchronized Future<Void> change(UnaryOperator<ConfigDocument> change) {
    ConfigDocument before = document;
    ConfigDocument after;
    try {
      after = change.apply(before);
    } catch (ConfigRefusedException e) {
      return Future.failedFuture(e);
    }
    if (!after.equals(before)) {
      document = after;
      LOG.info("configuration version {}: {}", after.version(), after.changesSince(before));
      live.replace(after.with(assignments));
    }
    return Future.succeededFuture();
  }

  private void replaceAssignments(Assignments after) {
    assignments = after;
    live.replace(document.with(after));
  }
}
