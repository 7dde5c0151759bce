package dev.weir.lease;

/** Takes all counts and keeps none. */
enum UnreadSheet implements TallySheet {
  INSTANCE;

  static final Tally TALLY = new Tally(INSTANCE, 0);

  @Override
  public boolean isOpen(int place) {
    return true;
  }

  @Override
  public boolean spend(int place, long units) {
    return true;
  }

  @Override
  public boolean degrade(int place, long units) {
    return true;
  }

  @Override
  public boolean deny(int place, long units) {
    return true;
  }

  @Override
  public boolean wouldDeny(int place, long units) {
    return true;
  }

  @Override
  public void authorized(int place, long units) {}
}
