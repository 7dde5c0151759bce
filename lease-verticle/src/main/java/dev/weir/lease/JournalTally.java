package dev.weir.lease;

/** A tally in a segment. Small, since a key keeps its last one for as long as it is held. */
final class JournalTally implements Tally {

  private final JournalSegment segment;
  private final int at;
  private final long untilMicros;

  JournalTally(JournalSegment segment, int at, long untilMicros) {
    this.segment = segment;
    this.at = at;
    this.untilMicros = untilMicros;
  }

  @Override
  public boolean spend(long units) {
    return segment.add(at, JournalLayout.SPENT, units);
  }

  @Override
  public boolean degrade(long units) {
    return segment.add(at, JournalLayout.DEGRADED, units);
  }

  @Override
  public boolean deny(long units) {
    return segment.add(at, JournalLayout.DENIED, units);
  }

  @Override
  public boolean wouldDeny(long units) {
    return segment.add(at, JournalLayout.WOULD_DENY, units);
  }

  @Override
  public void authorized(long units) {
    segment.raise(at, JournalLayout.AUTHORIZED, units);
  }

  @Override
  public long untilMicros() {
    return untilMicros;
  }
}
