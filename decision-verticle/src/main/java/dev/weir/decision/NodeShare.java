package dev.weir.decision;

/**
 * The part of a key's traffic that this node serves, judged by what the store grants: to this node,
 * and to all nodes together.
 *
 * <p>The store counts what it grants in an accounting window, and tells the count with every word.
 * So each word tells what all nodes were granted since the one before it, or since the window began
 * if that was later. Both sums, ours and all, are halved at the first word of a window, which makes
 * their quotient an exponentially weighted average of the share, with a half-life of one window of
 * traffic: permits that go back unspent, and nodes that are no more, are soon forgotten, while
 * windows without a word change nothing. One word's worth of doubt draws it to the even share, so
 * that a node that has heard little does not think itself alone.
 *
 * <p>Fractions of a permit do not matter here: floats, since there is one of these for every key.
 * Belongs to a {@link KeyEntry} and is written under its monitor.
 */
class NodeShare {

  /** The least share that a node counts on, so that traffic that moves finds something. */
  static final double LEAST = 0.02;

  /** Words are halved again and again, and one is not to be lost by that. */
  private static final int WORD = 4;

  /** More would not change the share by two percent. */
  private static final int MOST_WORDS = 255;

  private float mine;
  private float all;
  private float authorized;

  /** How many words have been counted, in parts of a {@link #WORD}, 0 to 255. */
  private byte words;

  private int window;

  /**
   * Takes in a word of the store.
   *
   * @param wordOf the number of the accounting window that it speaks of
   * @param granted permits to this node by the same word, 0 or more
   * @param authorizedNow permits granted to all nodes in that window until then, these included
   */
  final void heard(int wordOf, long granted, long authorizedNow) {
    if (authorizedNow == 0) {
      return;
    }
    int heard = Byte.toUnsignedInt(words);
    boolean first = heard == 0 && authorized == 0;
    if (wordOf != window) {
      window = wordOf;
      mine /= 2;
      all /= 2;
      heard /= 2;
      authorized = 0;
    }
    float count = (float) authorizedNow;
    // Below the last word's count, it is that of a store that has lost its own.
    float since = Math.max((float) granted, count < authorized ? count : count - authorized);
    authorized = count;
    // What was granted before the first word may have been to this node, before it was started.
    if (since > 0 && (!first || granted == authorizedNow)) {
      mine += (float) granted;
      all += since;
      heard += WORD;
    }
    words = (byte) Math.min(MOST_WORDS, heard);
  }

  /**
   * The share to count on, from {@link #LEAST} to 1.
   *
   * @param nodes that are alive, 1 or more
   */
  final double share(int nodes) {
    double even = 1.0 / nodes;
    double heard = Byte.toUnsignedInt(words) / (double) WORD;
    double share = all > 0 ? (heard * (mine / all) + even) / (heard + 1.0) : even;
    return Math.max(LEAST, Math.min(1, share));
  }

  /** Forgets what it has heard. */
  final void unheard() {
    mine = 0;
    all = 0;
    words = 0;
    authorized = 0;
    window = 0;
  }

  /** Counts on what all of {@code parts} have heard together. */
  final void add(NodeShare... parts) {
    mine = 0;
    all = 0;
    int heard = 0;
    for (NodeShare part : parts) {
      mine += part.mine;
      all += part.all;
      heard += Byte.toUnsignedInt(part.words);
    }
    words = (byte) Math.min(MOST_WORDS, heard);
  }

  /** Takes over what {@code former} has heard. */
  final void inherit(NodeShare former) {
    mine = former.mine;
    all = former.all;
    words = former.words;
    authorized = former.authorized;
    window = former.window;
  }
}
