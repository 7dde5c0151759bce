package dev.weir.config;

import java.util.List;

/** Who is in the cluster. Safe to use from any thread. */
public interface Membership {

  /** Live nodes, this one included; never less than 1. One volatile read. */
  int nodes();

  /**
   * As many nodes as leases are to be sized by: the live ones, and those that have vanished within
   * the last hour without having left. They may go on where this node does not see them, and each
   * part of a split cluster would take what is meant for all. Never less than {@link #nodes}.
   */
  int leasing();

  /** What is known of each live node, this one included, ordered by address. */
  List<NodeStatus> members();

  /** Calls {@code listener}, on any thread, after every change of one of the counts. */
  void onChange(Runnable listener);

  /**
   * Shares this node's status with the others; to be done every few seconds, since the status of a
   * node that falls silent is forgotten after a minute.
   */
  void publish(NodeStatus status);
}
