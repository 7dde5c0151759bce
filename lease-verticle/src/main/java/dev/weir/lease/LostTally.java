package dev.weir.lease;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * Takes one count, of which nobody will be told but the operator. Then another tally is to be
 * opened, for which there may be room.
 */
final class LostTally implements Tally {

  private final LongAdder lost;
  private final long untilMicros;
  private final AtomicBoolean used = new AtomicBoolean();

  LostTally(LongAdder lost, long untilMicros) {
    this.lost = lost;
    this.untilMicros = untilMicros;
  }

  @Override
  public boolean spend(long units) {
    if (used.getAndSet(true)) {
      return false;
    }
    lost.add(units);
    return true;
  }

  @Override
  public boolean degrade(long units) {
    return spend(units);
  }

  @Override
  public boolean deny(long units) {
    return spend(0);
  }

  @Override
  public boolean wouldDeny(long units) {
    return spend(0);
  }

  @Override
  public void authorized(long units) {}

  @Override
  public long untilMicros() {
    return untilMicros;
  }
}
