package dev.weir.lease;

import java.util.concurrent.atomic.LongAdder;

/** Counts what nobody will be told of but the operator. */
final class LostTally implements Tally {

  private final LongAdder lost;
  private final long untilMicros;

  LostTally(LongAdder lost, long untilMicros) {
    this.lost = lost;
    this.untilMicros = untilMicros;
  }

  @Override
  public boolean spend(long units) {
    lost.add(units);
    return true;
  }

  @Override
  public boolean degrade(long units) {
    lost.add(units);
    return true;
  }

  @Override
  public boolean deny(long units) {
    return true;
  }

  @Override
  public boolean wouldDeny(long units) {
    return true;
  }

  @Override
  public void authorized(long units) {}

  @Override
  public long untilMicros() {
    return untilMicros;
  }
}
