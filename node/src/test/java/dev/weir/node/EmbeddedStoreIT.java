package dev.weir.node;

/** What callers see with the store inside the node. */
final class EmbeddedStoreIT extends PlanScenarios {

  @Override
  RunningNode startNode() {
    return RunningNode.start();
  }
}
