package dev.weir.lease;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a process has left that is not there any more. Owned by one thread. */
final class LeftIncarnation implements JournaledIncarnation {

  private static final Logger LOG = LoggerFactory.getLogger(LeftIncarnation.class);

  private final String name;
  private final List<JournalSegment> segments;
  private final OwnIncarnation.Remover remover;

  LeftIncarnation(String name, List<JournalSegment> segments, OwnIncarnation.Remover remover) {
    this.name = name;
    this.segments = new ArrayList<>(segments);
    this.remover = remover;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void forEach(Consumer<JournalEntry> action) {
    segments.forEach(segment -> segment.forEach(action));
  }

  /** It goes as a whole, soon enough. */
  @Override
  public void trim() {}

  @Override
  public void remove() {
    segments.clear();
    try {
      remover.remove();
    } catch (IOException e) {
      LOG.warn("usage: cannot delete what is reported: {}", JournalFiles.reason(e));
    }
  }
}
