package dev.weir.lease;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * Takes one count, of which nobody will be told but the operator. Then another tally is to be
 * opened, for which there may be room.
 */
final class LostSheet implements TallySheet {

  private final LongAdder lost;
  private final AtomicBoolean used = new AtomicBoolean();

  LostSheet(LongAdder lost) {
    this.lost = lost;
  }

  @Override
  public boolean isOpen(int place) {
    return !used.get();
  }

  @Override
  public boolean spend(int place, long units) {
    if (used.getAndSet(true)) {
      return false;
    }
    lost.add(units);
    return true;
  }

  @Override
  public boolean degrade(int place, long units) {
    return spend(place, units);
  }

  @Override
  public boolean deny(int place, long units) {
    return spend(place, 0);
  }

  @Override
  public boolean wouldDeny(int place, long units) {
    return spend(place, 0);
  }

  @Override
  public void authorized(int place, long units) {}
}
