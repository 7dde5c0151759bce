package dev.weir.lease;

/**
 * Units by the time at which they were used, one entry a request: the twin of a log in {@code
 * refill.lua}. Each entry knows the sum of all before it, so that what counts now, and when enough
 * of it will not any more, are found by halves. Owned by one thread.
 */
final class RequestLog {
  /** Up to which units may count at once; the totals of {@code refill.lua} stay exact with it. */
  static final long MAX_UNITS = 1L << 51;

  private static final long MAX_TOTAL = 1L << 52;

  private long[] at = new long[4];
  private long[] total = new long[4];
  private long[] cost = new long[4];
  private int first;
  private int end;

  /** How many entries there is memory for. */
  int capacity() {
    return at.length;
  }

  boolean isEmpty() {
    return first == end;
  }

  /** When the newest entry was written, microseconds; 0 if there is none. */
  long newestMicros() {
    return isEmpty() ? 0 : at[end - 1];
  }

  private long total() {
    return isEmpty() ? 0 : total[end - 1];
  }

  /** Units of entries after {@code sinceMicros}, those of the future included. */
  long unitsAfter(long sinceMicros) {
    int i = firstAfter(sinceMicros);
    return i == end ? 0 : total() - total[i] + cost[i];
  }

  /** When the entry was written with which all but {@code units} of the units leave. */
  long leavingMicros(long units) {
    long enough = total() - units;
    int low = first;
    int high = end - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (total[middle] >= enough) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return at[low];
  }

  /**
   * Writes an entry of now, which takes in those of now and of the future, and drops what is over.
   *
   * @param overMicros up to which entries do not count any more
   */
  void append(long nowMicros, long units, long overMicros) {
    long sum = total() + units;
    int i = firstAfter(nowMicros - 1);
    long own = i == end ? units : sum - total[i] + cost[i];
    end = i;
    if (own > 0) {
      add(nowMicros, sum, own);
    }
    first = firstAfter(overMicros);
    if (sum > MAX_TOTAL) {
      long rebased = 0;
      for (int k = first; k < end; k++) {
        rebased += cost[k];
        total[k] = rebased;
      }
    }
  }

  /** Takes up to {@code units} off the entry of {@code atMicros}; false if there is none. */
  boolean takeBack(long atMicros, long units) {
    int i = firstAfter(atMicros - 1);
    if (i == end || at[i] != atMicros) {
      return false;
    }
    long back = Math.min(units, cost[i]);
    cost[i] -= back;
    for (int k = i; k < end; k++) {
      total[k] -= back;
    }
    if (cost[i] == 0) {
      int later = end - i - 1;
      System.arraycopy(at, i + 1, at, i, later);
      System.arraycopy(total, i + 1, total, i, later);
      System.arraycopy(cost, i + 1, cost, i, later);
      end--;
    }
    return true;
  }

  private int firstAfter(long micros) {
    int low = first;
    int high = end;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (at[middle] > micros) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  private void add(long micros, long sum, long own) {
    if (end == at.length) {
      int size = end - first;
      // Moved down if that makes room enough, else doubled.
      int capacity = size > at.length / 2 ? 2 * at.length : at.length;
      at = moved(at, capacity);
      total = moved(total, capacity);
      cost = moved(cost, capacity);
      first = 0;
      end = size;
    }
    at[end] = micros;
    total[end] = sum;
    cost[end] = own;
    end++;
  }

  private long[] moved(long[] from, int capacity) {
    long[] to = new long[capacity];
    System.arraycopy(from, first, to, 0, end - first);
    return to;
  }
}
