package dev.weir.bench;

/** The plan of all keys of a node that is measured: each key has more than any benchmark takes. */
enum BenchPlan {
  /** From leases. */
  LEASED(""),
  /** By a question to the store for each decision. */
  STRICT(", strict: true"),
  /** From leases, the limit divided over sub-counters. */
  LEASED_IN_SHARDS(", shards: 8"),
  /** By a question to the store for each decision, to one sub-counter after another. */
  STRICT_IN_SHARDS(", strict: true, shards: 8");

  private final String more;

  BenchPlan(String more) {
    this.more = more;
  }

  /** A file of plans with this one. */
  String yaml() {
    return """
        default_plan: bench
        plans:
          bench: {rate: %d, period: 1s, capacity: %d%s}
        """
        .formatted(Contenders.LIMIT, Contenders.LIMIT, more);
  }
}
