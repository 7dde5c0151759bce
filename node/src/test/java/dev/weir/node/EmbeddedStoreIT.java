package dev.weir.node;

/** The public scenarios on the store inside the node. */
final class EmbeddedStoreIT extends PublicScenarios {

  @Override
  RunningNode startNode() {
    return RunningNode.start();
  }
}
