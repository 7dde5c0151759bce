package dev.weir.lease;

import java.util.concurrent.atomic.AtomicLong;

/** How much of the disk a journal takes, and how much it may. Safe to use from any thread. */
final class DiskAllowance {

  private final long mostBytes;
  private final AtomicLong used = new AtomicLong();

  /**
   * @throws IllegalArgumentException if {@code mostBytes} is not above 0
   */
  DiskAllowance(long mostBytes) {
    if (mostBytes <= 0) {
      throw new IllegalArgumentException("disk: must be above 0 bytes, was " + mostBytes);
    }
    this.mostBytes = mostBytes;
  }

  /** Takes room for something new; false if there is not as much. */
  boolean take(long bytes) {
    long now = used.get();
    while (now <= mostBytes - bytes) {
      if (used.compareAndSet(now, now + bytes)) {
        return true;
      }
      now = used.get();
    }
    return false;
  }

  /** Counts what is there already, be there room for it or not. */
  void find(long bytes) {
    used.addAndGet(bytes);
  }

  /** Gives back what was taken or found. */
  void free(long bytes) {
    used.addAndGet(-bytes);
  }

  long usedBytes() {
    return used.get();
  }

  long mostBytes() {
    return mostBytes;
  }
}
