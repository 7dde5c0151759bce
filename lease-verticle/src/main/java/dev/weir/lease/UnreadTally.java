package dev.weir.lease;

/** Takes all counts and keeps none. */
enum UnreadTally implements Tally {
  INSTANCE;

  @Override
  public boolean spend(long units) {
    return true;
  }

  @Override
  public boolean degrade(long units) {
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
    return Long.MAX_VALUE;
  }
}
