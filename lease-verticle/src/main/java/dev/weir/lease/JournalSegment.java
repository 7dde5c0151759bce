package dev.weir.lease;

import static dev.weir.lease.JournalLayout.ACKNOWLEDGED;
import static dev.weir.lease.JournalLayout.CLOSED;
import static dev.weir.lease.JournalLayout.COUNTED_HERE;
import static dev.weir.lease.JournalLayout.HEADER;
import static dev.weir.lease.JournalLayout.INTS;
import static dev.weir.lease.JournalLayout.LENGTH;
import static dev.weir.lease.JournalLayout.LONGS;
import static dev.weir.lease.JournalLayout.MAGIC;
import static dev.weir.lease.JournalLayout.MOST;
import static dev.weir.lease.JournalLayout.MOST_ENTRIES;
import static dev.weir.lease.JournalLayout.RELEASE;
import static dev.weir.lease.JournalLayout.RELEASED;
import static dev.weir.lease.JournalLayout.SENT;
import static dev.weir.lease.JournalLayout.SENT_BATCH;
import static dev.weir.lease.JournalLayout.SPENT_AT;
import static dev.weir.lease.JournalLayout.TEXT;
import static dev.weir.lease.JournalLayout.WINDOW_END;
import static dev.weir.lease.JournalLayout.WINDOW_START;

import dev.weir.config.KeyFingerprint;
import dev.weir.lease.JournalLayout.Salvage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import java.util.stream.Stream;

/**
 * A piece of a journal, which is filled from one end and dropped as a whole: a mapped file, whose
 * pages the system keeps when the process is killed, or memory where the disk has no room. Tallies
 * may be added to from any thread; {@link #append} by one thread at a time.
 */
final class JournalSegment implements TallySheet {

  /** Bytes of a segment. */
  static final int SIZE = 1 << 20;

  private static final ByteBuffer EMPTY = empty();

  private final int number;
  private final Optional<SegmentFile> file;
  private final int size;

  /** Null when dropped: a tally that is still held must not keep the mapping. */
  private volatile ByteBuffer bytes;

  private int end = HEADER;
  private int entries;

  /** Entries that were opened in it, those included of which nothing can be read. */
  private int opened;

  private int released;

  /** Whether nothing will be added. */
  private volatile boolean full;

  private JournalSegment(int number, Optional<SegmentFile> file, ByteBuffer bytes) {
    this.number = number;
    this.file = file;
    this.bytes = bytes.order(ByteOrder.LITTLE_ENDIAN);
    this.size = bytes.capacity();
  }

  private static ByteBuffer empty() {
    ByteBuffer empty = ByteBuffer.allocateDirect(SIZE).order(ByteOrder.LITTLE_ENDIAN);
    empty.putLong(0, MAGIC);
    return empty.asReadOnlyBuffer();
  }

  /**
   * An empty one on the disk.
   *
   * @throws IOException if there is no room
   */
  static JournalSegment create(int number, SegmentFile file) throws IOException {
    return new JournalSegment(number, Optional.of(file), file.create(EMPTY.duplicate()));
  }

  /** An empty one that goes with the process; none if there is no memory for it. */
  static Optional<JournalSegment> inMemory(int number) {
    try {
      ByteBuffer memory = ByteBuffer.allocateDirect(SIZE);
      return Optional.of(new JournalSegment(number, Optional.empty(), memory));
    } catch (OutOfMemoryError e) {
      // Of direct memory, which has a limit of its own. Decisions go on.
      return Optional.empty();
    }
  }

  /** One without any room. */
  static JournalSegment none() {
    JournalSegment none = new JournalSegment(0, Optional.empty(), ByteBuffer.allocate(0));
    none.full = true;
    return none;
  }

  /**
   * One that another process left.
   *
   * @param loss told of what cannot be read, if anything
   * @throws IOException if nothing of it can
   */
  static JournalSegment recover(int number, SegmentFile file, Consumer<String> loss)
      throws IOException {
    JournalSegment segment = new JournalSegment(number, Optional.of(file), file.open());
    segment.recover(loss);
    return segment;
  }

  /** One of which another process left {@code bytes}. */
  static JournalSegment recover(int number, ByteBuffer bytes, Consumer<String> loss) {
    JournalSegment segment = new JournalSegment(number, Optional.empty(), bytes);
    segment.recover(loss);
    return segment;
  }

  private void recover(Consumer<String> loss) {
    full = true;
    if (size < HEADER || (long) LONGS.getAcquire(bytes, 0) != MAGIC) {
      loss.accept("the mark at its beginning is damaged");
    }
    int length = recoverNext(loss);
    while (length > 0) {
      end += length;
      length = recoverNext(loss);
    }
    if (size < SIZE) {
      loss.accept("it ends at byte " + size + "; what came after is gone");
    }
  }

  /** The length of what begins at the end of what is recovered; 0 if nothing follows. */
  private int recoverNext(Consumer<String> loss) {
    int length = JournalLayout.lengthAt(bytes, end);
    if (length > 0) {
      recoverEntry(loss);
      return length;
    }
    return recoverGap(loss);
  }

  private void recoverEntry(Consumer<String> loss) {
    entries++;
    opened = Math.max(opened, 1 + JournalLayout.nth(bytes.getInt(end + SPENT_AT)));
    if ((long) LONGS.get(bytes, end + RELEASED) == RELEASE) {
      released++;
      return;
    }
    Salvage salvage = JournalLayout.salvage(bytes, end);
    if (salvage != Salvage.SOUND) {
      loss.accept(
          "of key "
              + KeyFingerprint.of(JournalLayout.key(bytes, end))
              + ", in the window that began at "
              + Instant.ofEpochMilli(bytes.getLong(end + WINDOW_START))
              + ", "
              + salvage.loss());
    }
    if (salvage == Salvage.LOST) {
      release();
    }
  }

  /**
   * At a place where no entry begins: leaps to the next one that is sound, and tells how far that
   * is; 0 if there is none.
   */
  private int recoverGap(Consumer<String> loss) {
    int next = end + TEXT;
    while (next < size && JournalLayout.lengthAt(bytes, next) <= 0) {
      next += Long.BYTES;
    }
    if (next < size) {
      loss.accept("what was counted from byte " + end + " to " + next + " is damaged");
      INTS.setRelease(bytes, end + LENGTH, next - end);
      entries++;
      release();
      return next - end;
    }
    // An entry may be half written if nobody has counted in it yet.
    if (JournalLayout.lengthAt(bytes, end) != 0
        || !isEmpty(end + COUNTED_HERE, end + TEXT)
        || hasSpentMore()) {
      loss.accept("what was counted from byte " + end + " on is damaged");
    }
    return 0;
  }

  /** Whether something is spent that no entry tells of. */
  private boolean hasSpentMore() {
    for (int nth = opened; nth < MOST_ENTRIES; nth++) {
      int spentAt = JournalLayout.spentAt(nth);
      if (!isEmpty(spentAt, spentAt + Long.BYTES)) {
        return true;
      }
    }
    return false;
  }

  private void release() {
    LONGS.setVolatile(bytes, end + RELEASED, RELEASE);
    released++;
  }

  private boolean isEmpty(int from, int to) {
    for (int i = from; i < Math.min(to, size); i++) {
      if (bytes.get(i) != 0) {
        return false;
      }
    }
    return true;
  }

  boolean onDisk() {
    return file.isPresent();
  }

  /** Makes room for an entry; empty if there is none left. */
  Optional<Tally> append(String key, String plan, long startMillis, long endMillis) {
    byte[] keyBytes = key.getBytes(StandardCharsets.UTF_8);
    byte[] planBytes = plan.getBytes(StandardCharsets.UTF_8);
    int length = JournalLayout.lengthOf(keyBytes, planBytes);
    if (full || length > size - end || opened == MOST_ENTRIES) {
      full = true;
      return Optional.empty();
    }
    int at = end;
    int nth = opened;
    JournalLayout.write(bytes, at, nth, startMillis, endMillis, keyBytes, planBytes);
    end += length;
    entries++;
    opened++;
    return Optional.of(new Tally(this, JournalLayout.place(at, JournalLayout.spentAt(nth))));
  }

  /** Has nothing added any more. */
  void end() {
    full = true;
  }

  /** Whether nobody will ask for anything in it, nor add to it. */
  boolean spent() {
    return full && released == entries;
  }

  /** All entries that are not released. */
  Stream<JournalEntry> entries() {
    List<JournalEntry> found = new ArrayList<>();
    ByteBuffer held = bytes;
    int limit = full ? end : size;
    int at = HEADER;
    while (held != null && at < limit) {
      int length = JournalLayout.publishedAt(held, at);
      if (length == 0) {
        break;
      }
      if ((long) LONGS.getVolatile(held, at + RELEASED) != RELEASE) {
        found.add(new Entry(held, at));
      }
      at += length;
    }
    return found.stream();
  }

  /**
   * Ends it with all that is in it: tallies count in it no more, but for those of threads that are
   * about to.
   */
  void drop() {
    bytes = null;
  }

  /** Gives its room back. No thread is about to count in it. */
  void delete() {
    drop();
    file.ifPresent(SegmentFile::delete);
  }

  /** Gives its room back once no thread is about to count in it. */
  void unlink() {
    drop();
    file.ifPresent(SegmentFile::unlink);
  }

  @Override
  public boolean isOpen(int place) {
    ByteBuffer held = bytes;
    return held != null
        && (long) LONGS.getOpaque(held, JournalLayout.countedAt(place, JournalLayout.SPENT)) >= 0;
  }

  @Override
  public boolean spend(int place, long units) {
    return add(place, JournalLayout.SPENT, units);
  }

  @Override
  public boolean degrade(int place, long units) {
    return add(place, JournalLayout.DEGRADED, units);
  }

  @Override
  public boolean deny(int place, long units) {
    return add(place, JournalLayout.DENIED, units);
  }

  @Override
  public boolean wouldDeny(int place, long units) {
    return add(place, JournalLayout.WOULD_DENY, units);
  }

  @Override
  public void authorized(int place, long units) {
    raise(place, JournalLayout.AUTHORIZED, units);
  }

  /** Counts up a counter of the entry at {@code place}, unless it is closed or can hold no more. */
  private boolean add(int place, int counter, long units) {
    ByteBuffer held = bytes;
    if (held == null) {
      return false;
    }
    int at = JournalLayout.countedAt(place, counter);
    while (true) {
      long before = (long) LONGS.getOpaque(held, at);
      long after = JournalLayout.units(before) + units;
      if (before < 0 || after > MOST) {
        return false;
      }
      // Not added and taken back: the reporter would see what does not count.
      if (LONGS.compareAndSet(held, at, before, JournalLayout.counter(after))) {
        return true;
      }
    }
  }

  /** Raises a counter of the entry at {@code place}, unless it is closed. */
  private void raise(int place, int counter, long units) {
    ByteBuffer held = bytes;
    int at = JournalLayout.countedAt(place, counter);
    long after = JournalLayout.counter(Math.min(units, MOST));
    while (held != null) {
      long before = (long) LONGS.getOpaque(held, at);
      if (before < 0 || before >= after || LONGS.compareAndSet(held, at, before, after)) {
        return;
      }
    }
  }

  private final class Entry implements JournalEntry {
    private final ByteBuffer held;
    private final int at;
    private final int place;

    Entry(ByteBuffer held, int at) {
      this.held = held;
      this.at = at;
      this.place = JournalLayout.placeOf(held, at);
    }

    @Override
    public long id() {
      return ((long) number << Integer.SIZE) | at;
    }

    @Override
    public String key() {
      return JournalLayout.key(held, at);
    }

    @Override
    public String plan() {
      return JournalLayout.plan(held, at);
    }

    @Override
    public long windowStartMillis() {
      return held.getLong(at + WINDOW_START);
    }

    @Override
    public long windowEndMillis() {
      return held.getLong(at + WINDOW_END);
    }

    @Override
    public void close() {
      for (int i = JournalLayout.SPENT; i <= JournalLayout.AUTHORIZED; i++) {
        LONGS.getAndBitwiseOr(held, JournalLayout.countedAt(place, i), CLOSED);
      }
    }

    @Override
    public boolean closed() {
      return (long)
              LONGS.getVolatile(held, JournalLayout.countedAt(place, JournalLayout.AUTHORIZED))
          < 0;
    }

    @Override
    public UsageCounts counted() {
      return read(counter -> JournalLayout.countedAt(place, counter));
    }

    @Override
    public UsageCounts acknowledged() {
      return read(counter -> at + ACKNOWLEDGED + counter * Long.BYTES);
    }

    @Override
    public UsageCounts sent() {
      return read(counter -> at + SENT + counter * Long.BYTES);
    }

    @Override
    public long sentBatch() {
      return JournalLayout.units((long) LONGS.getVolatile(held, at + SENT_BATCH));
    }

    @Override
    public void sending(long batch, UsageCounts counts) {
      write(SENT, counts);
      LONGS.setVolatile(held, at + SENT_BATCH, JournalLayout.counter(batch));
    }

    @Override
    public void acknowledge() {
      write(ACKNOWLEDGED, sent());
      LONGS.setVolatile(held, at + SENT_BATCH, 0L);
    }

    @Override
    public void release() {
      if ((long) LONGS.getAndSet(held, at + RELEASED, RELEASE) != RELEASE) {
        released++;
      }
    }

    private UsageCounts read(IntUnaryOperator places) {
      long degraded = units(places.applyAsInt(JournalLayout.DEGRADED));
      return new UsageCounts(
          units(places.applyAsInt(JournalLayout.SPENT)) + degraded,
          degraded,
          units(places.applyAsInt(JournalLayout.DENIED)),
          units(places.applyAsInt(JournalLayout.WOULD_DENY)),
          units(places.applyAsInt(JournalLayout.AUTHORIZED)));
    }

    private long units(int counterAt) {
      return JournalLayout.units((long) LONGS.getVolatile(held, counterAt));
    }

    private void write(int to, UsageCounts counts) {
      set(to, JournalLayout.SPENT, counts.spent() - counts.degraded());
      set(to, JournalLayout.DEGRADED, counts.degraded());
      set(to, JournalLayout.DENIED, counts.denied());
      set(to, JournalLayout.WOULD_DENY, counts.wouldDeny());
      set(to, JournalLayout.AUTHORIZED, counts.authorized());
    }

    private void set(int to, int counter, long units) {
      LONGS.setVolatile(held, at + to + counter * Long.BYTES, JournalLayout.counter(units));
    }
  }
}
