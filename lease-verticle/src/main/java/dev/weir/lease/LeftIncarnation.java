package dev.weir.lease;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What a process has left that is not there any more. Owned by one thread. */
final class LeftIncarnation implements JournaledIncarnation {

  private final String name;
  private final List<JournalSegment> segments;
  private final Runnable remover;

  /**
   * @param remover deletes what is left when all segments are gone
   */
  LeftIncarnation(String name, List<JournalSegment> segments, Runnable remover) {
    this.name = name;
    this.segments = new ArrayList<>(segments);
    this.remover = remover;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Stream<JournalEntry> entries() {
    return segments.stream().flatMap(JournalSegment::entries);
  }

  @Override
  public void trim() {
    List<JournalSegment> spent = segments.stream().filter(JournalSegment::spent).toList();
    segments.removeAll(spent);
    spent.forEach(JournalSegment::delete);
  }

  @Override
  public void remove() {
    segments.forEach(JournalSegment::delete);
    segments.clear();
    remover.run();
  }
}
