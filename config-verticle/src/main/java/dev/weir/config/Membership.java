package dev.weir.config;

import java.util.List;
import java.util.function.Consumer;

/** Who is in the cluster. Safe to use from any thread. */
public interface Membership {

  /** Live nodes, this one included; never less than 1. One volatile read. */
  int nodes();

  /** What is known of each live node, this one included, ordered by address. */
  List<NodeStatus> members();

  /** Calls {@code listener} with the new count after every change of it. */
  void onChange(Consumer<Integer> listener);

  /** Shares this node's status with the others. */
  void publish(NodeStatus status);
}
