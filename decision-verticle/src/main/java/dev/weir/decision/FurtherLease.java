package dev.weir.decision;

/** A lease that is not part of its key's entry: of a limit behind the plan's first. */
final class FurtherLease extends LimitLease {

  private final BoundLimit limit;

  FurtherLease(BoundLimit limit) {
    this.limit = limit;
  }

  @Override
  BoundLimit limit() {
    return limit;
  }
}
