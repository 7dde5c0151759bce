package dev.weir.lease;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/**
 * Where everything of a segment is, little-endian; of an entry, by its distance from the entry's
 * start. All numbers that change are aligned to 8 bytes, so that they are written in one piece.
 *
 * <p>What entries have spent with the store stands before all of them: it changes with each
 * decision, and of a million keys these counters take few enough pages for the processor to know
 * where they are. Those of entries that were opened one after another, and are busy alike, are in
 * cache lines apart, lest threads wait for each other's lines.
 *
 * <p>An entry begins with its length, which is written last: what has none is not there. The
 * checksum is of what never changes, the window and the names. A counter is checked by itself,
 * since it has to change in one step with what proves it: beside the units stands their remainder
 * by 7. The change of any one bit belies it, no power of two being a multiple of 7 (an AN code, D.
 * T. Brown, 1960), of other damage six parts of seven.
 */
final class JournalLayout {

  /** What a segment begins with: it says what the file is. */
  static final long MAGIC = 0x33_45_47_41_53_55_52_57L;

  /** A cache line of most processors, bytes. */
  private static final int LINE = 64;

  private static final int LINES = 712;

  /** The counters of what is spent begin after the line of the mark. */
  private static final int COUNTERS = LINE;

  /** Entries that a segment has counters for, which are as many as it can have room for. */
  static final int MOST_ENTRIES = LINES * (LINE / Long.BYTES);

  /** Of a segment, before its first entry: the mark, and the counters. */
  static final int HEADER = COUNTERS + MOST_ENTRIES * Long.BYTES;

  /** Bits of a place that tell where the entry is, by 8 bytes; those above tell of its counter. */
  private static final int ENTRY_BITS = 17;

  static final int LENGTH = 0;
  static final int CHECKSUM = 4;
  static final int WINDOW_START = 8;
  static final int WINDOW_END = 16;
  static final int KEY_LENGTH = 24;
  static final int PLAN_LENGTH = 28;

  /** Where the counter is of what is spent, which stands apart. */
  static final int SPENT_AT = 32;

  /** Five counters each; of what is counted the first one stands apart, and that is told there. */
  static final int COUNTED = SPENT_AT;

  static final int COUNTED_HERE = COUNTED + Long.BYTES;

  static final int SENT = COUNTED + 5 * Long.BYTES;
  static final int ACKNOWLEDGED = SENT + 5 * Long.BYTES;
  static final int SENT_BATCH = ACKNOWLEDGED + 5 * Long.BYTES;

  /** Either 0 or {@link #RELEASE}. */
  static final int RELEASED = SENT_BATCH + Long.BYTES;

  static final int TEXT = RELEASED + Long.BYTES;

  /** Of counters: allowed with the store, and without, denied, allowed by shadow, authorized. */
  static final int SPENT = 0;

  static final int DEGRADED = 1;
  static final int DENIED = 2;
  static final int WOULD_DENY = 3;
  static final int AUTHORIZED = 4;

  /** Nobody will ask for the entry any more. No damage but to many bits says so by chance. */
  static final long RELEASE = 0x45_53_41_45_4c_45_52L;

  /** Of a counter, units: a million requests of the highest cost. */
  static final long MOST = 1_000_000_000_000_000_000L;

  private static final int CHECK_BITS = 3;
  private static final long CHECK = 7;

  /** The bit of a counter that counts no more. */
  static final long CLOSED = Long.MIN_VALUE;

  static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle INTS =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private JournalLayout() {}

  /** How much room an entry takes, bytes. */
  static int lengthOf(byte[] key, byte[] plan) {
    return (TEXT + key.length + plan.length + 7) & ~7;
  }

  /**
   * Where the counter is of what the entry has spent that was opened as the {@code nth}, from 0.
   */
  static int spentAt(int nth) {
    return COUNTERS + (nth % LINES) * LINE + (nth / LINES) * Long.BYTES;
  }

  /** The inverse of {@link #spentAt}. */
  static int nth(int spentAt) {
    int inLine = (spentAt - COUNTERS) % LINE / Long.BYTES;
    return inLine * LINES + (spentAt - COUNTERS) / LINE;
  }

  /** Where an entry and its counter are, in one number. */
  static int place(int at, int spentAt) {
    return ((spentAt / Long.BYTES) << ENTRY_BITS) | (at / Long.BYTES);
  }

  /** Where a counter is of what is counted at a {@link #place}. */
  static int countedAt(int place, int counter) {
    int at = (place & ((1 << ENTRY_BITS) - 1)) * Long.BYTES;
    return counter == SPENT
        ? (place >>> ENTRY_BITS) * Long.BYTES
        : at + COUNTED + counter * Long.BYTES;
  }

  /** The place of the entry at {@code at}. */
  static int placeOf(ByteBuffer segment, int at) {
    return place(at, segment.getInt(at + SPENT_AT));
  }

  /** Writes the {@code nth} entry, from 0, where there is none yet, at {@code at}. */
  static void write(
      ByteBuffer segment,
      int at,
      int nth,
      long startMillis,
      long endMillis,
      byte[] key,
      byte[] plan) {
    segment.putInt(at + SPENT_AT, spentAt(nth));
    segment.putLong(at + WINDOW_START, startMillis);
    segment.putLong(at + WINDOW_END, endMillis);
    segment.putInt(at + KEY_LENGTH, key.length);
    segment.putInt(at + PLAN_LENGTH, plan.length);
    segment.put(at + TEXT, key);
    segment.put(at + TEXT + key.length, plan);
    segment.putInt(at + CHECKSUM, checksum(segment, at));
    INTS.setRelease(segment, at + LENGTH, lengthOf(key, plan));
  }

  /**
   * The length of the entry at {@code at}, bytes; 0 if there is none, and -1 if what is there was
   * not written so.
   */
  static int lengthAt(ByteBuffer segment, int at) {
    int room = segment.capacity() - at;
    int length = room < Integer.BYTES ? 0 : (int) INTS.getAcquire(segment, at + LENGTH);
    if (length == 0) {
      return 0;
    }
    if (length < TEXT || length > room || (length & 7) != 0) {
      return -1;
    }
    int key = segment.getInt(at + KEY_LENGTH);
    int plan = segment.getInt(at + PLAN_LENGTH);
    // Compared one by one, lest a sum overflow.
    boolean fits = key >= 0 && plan >= 0 && key <= length && plan <= length;
    int spentAt = segment.getInt(at + SPENT_AT);
    fits &= spentAt >= COUNTERS && spentAt < HEADER && spentAt % Long.BYTES == 0;
    return fits
            && ((TEXT + key + plan + 7) & ~7) == length
            && segment.getInt(at + CHECKSUM) == checksum(segment, at)
        ? length
        : -1;
  }

  /** The length of the entry at {@code at} of a segment that is known to be sound; 0 if none. */
  static int publishedAt(ByteBuffer segment, int at) {
    return segment.capacity() - at < TEXT ? 0 : (int) INTS.getAcquire(segment, at + LENGTH);
  }

  /** How {@code units}, 0 to {@link #MOST}, are written. */
  static long counter(long units) {
    return units << CHECK_BITS | units % CHECK;
  }

  /** The units that a counter holds, closed or not. */
  static long units(long counter) {
    return (counter & ~CLOSED) >>> CHECK_BITS;
  }

  private static boolean isSound(long counter) {
    return units(counter) <= MOST && (counter & CHECK) == units(counter) % CHECK;
  }

  /** What is left of an entry that was found. */
  enum Salvage {
    SOUND(""),
    TOLD("what was counted since its last report is damaged"),
    LOST("what was counted is damaged");

    private final String loss;

    Salvage(String loss) {
      this.loss = loss;
    }

    /** What is lost, for people to read. */
    String loss() {
      return loss;
    }
  }

  /**
   * Puts in the place of what was counted and is damaged what the store was told of it. So too
   * where less is counted than was told, as the system may leave it that was stopped itself.
   */
  static Salvage salvage(ByteBuffer segment, int at) {
    Salvage salvage = isSound(segment.getLong(at + SENT_BATCH)) ? Salvage.SOUND : Salvage.LOST;
    for (int i = SPENT; i <= AUTHORIZED && salvage != Salvage.LOST; i++) {
      int place = at + i * Long.BYTES;
      int countedAt = countedAt(placeOf(segment, at), i);
      long acknowledged = segment.getLong(place + ACKNOWLEDGED);
      long sent = segment.getLong(place + SENT);
      long counted = segment.getLong(countedAt);
      long told = Math.max(acknowledged, sent);
      if (!isSound(acknowledged) || !isSound(sent)) {
        salvage = Salvage.LOST;
      } else if (!isSound(counted) || units(counted) < units(told)) {
        segment.putLong(place + SENT, told);
        segment.putLong(countedAt, told);
        salvage = Salvage.TOLD;
      }
    }
    return salvage;
  }

  private static int checksum(ByteBuffer segment, int at) {
    int text = segment.getInt(at + KEY_LENGTH) + segment.getInt(at + PLAN_LENGTH);
    CRC32 crc = new CRC32();
    crc.update(segment.slice(at + WINDOW_START, COUNTED_HERE - WINDOW_START));
    crc.update(segment.slice(at + TEXT, text));
    return (int) crc.getValue();
  }

  static String key(ByteBuffer segment, int at) {
    return text(segment, at + TEXT, segment.getInt(at + KEY_LENGTH));
  }

  static String plan(ByteBuffer segment, int at) {
    int key = segment.getInt(at + KEY_LENGTH);
    return text(segment, at + TEXT + key, segment.getInt(at + PLAN_LENGTH));
  }

  private static String text(ByteBuffer segment, int from, int length) {
    byte[] bytes = new byte[length];
    segment.get(from, bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
