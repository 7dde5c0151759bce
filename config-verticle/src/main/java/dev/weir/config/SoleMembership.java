package dev.weir.config;

import java.util.List;

/** The membership of a node that is alone: one node, for ever. */
final class SoleMembership implements Membership {

  private volatile List<NodeStatus> self = List.of();

  @Override
  public int nodes() {
    return 1;
  }

  @Override
  public int leasing() {
    return 1;
  }

  @Override
  public List<NodeStatus> members() {
    return self;
  }

  @Override
  public void onChange(Runnable listener) {
    // The count never changes.
  }

  @Override
  public void publish(NodeStatus status) {
    self = List.of(status);
  }
}
