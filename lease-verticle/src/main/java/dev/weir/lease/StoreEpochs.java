package dev.weir.lease;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Tells the times before the store lost data from those after. An epoch ends for a slot when the
 * mark that the script leaves there is another one, so that the data has gone, or when what answers
 * has begun a history of its own, which may have less of it: a restart, or a replica that was
 * promoted. A replica has the mark, however long ago it last heard from its master.
 *
 * <p>What a node was told in an earlier epoch may be more than the store now knows. Owned by one
 * thread.
 */
final class StoreEpochs {

  /** The number of the epoch in which nothing was told yet. */
  static final long NONE = 0;

  /**
   * @param mark that was there last; empty if none has been seen
   * @param looked whether that was in this epoch
   */
  private record Epoch(long number, String mark, String history, boolean looked) {}

  private static final Epoch UNSEEN = new Epoch(NONE, "", "", false);

  private final Map<Integer, Epoch> bySlot = new HashMap<>();
  private final String proposal;
  private long last = NONE;
  private volatile Consumer<String> onEnd = loss -> {};

  StoreEpochs(RandomGenerator random) {
    proposal = Long.toHexString(random.nextLong());
  }

  /**
   * Has {@code listener} told, on the owner's thread, whenever an epoch ends; from any thread.
   *
   * @param listener told the mark or the history that ended it, which every node finds alike
   */
  void onEnd(Consumer<String> listener) {
    onEnd = listener;
  }

  /** What the script is to begin a mark with where there is none. */
  String proposal() {
    return proposal;
  }

  /**
   * The number of the epoch of {@code slot}.
   *
   * @param history that the server has now; another whenever a Redis starts, or becomes a master;
   *     empty if unknown
   */
  long number(int slot, String history) {
    Epoch known = bySlot.getOrDefault(slot, UNSEEN);
    if (known.number == NONE || !known.history.equals(history)) {
      boolean ended = known.number != NONE;
      known = new Epoch(++last, known.mark, history, false);
      bySlot.put(slot, known);
      if (ended) {
        onEnd.accept(history);
      }
    }
    return known.number;
  }

  /** The mark of {@code slot}; empty if none has been seen. */
  String mark(int slot) {
    return bySlot.getOrDefault(slot, UNSEEN).mark;
  }

  /**
   * Takes in the mark that is there.
   *
   * @return whether another one was there before
   */
  boolean found(int slot, String mark) {
    Epoch known = bySlot.getOrDefault(slot, UNSEEN);
    boolean lost = !known.mark.isEmpty() && !known.mark.equals(mark);
    bySlot.put(slot, new Epoch(lost ? ++last : known.number, mark, known.history, true));
    // A restart that lost the data has been told of already: its history was another one.
    if (lost && known.looked) {
      onEnd.accept(mark);
    }
    return lost;
  }
}
