package dev.weir.config;

import java.util.List;
import java.util.function.Consumer;

/** Who is in the cluster. Safe to use from any thread. */
public interface Membership {

  /** Live nodes, this one included; never less than 1. One volatile read. */
  int nodes();

  /** What is known of each live node, this one included, ordered by address. */
  List<NodeStatus> members();

  /** Calls {@code listener}, on any thread, with the new count after every change of it. */
  void onChange(Consumer<Integer> listener);

  /**
   * Shares this node's status with the others; to be done every few seconds, since the status of a
   * node that falls silent is forgotten after a minute.
   */
  void publish(NodeStatus status);
}
