package dev.weir.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of changes that are lost where two parts of a cluster become one, or a node comes back that
 * had gone on alone. Nodes that find the same loss tell of it once, all together.
 *
 * <p>A node notes what is in force when others go: from there on the parts may have changes of
 * their own, and what was the same before is not taken for one. Safe to use from any thread.
 */
final class LossReport {

  private static final Logger LOG = LoggerFactory.getLogger(LossReport.class);

  /** As many as one loss can have, and some more. */
  private static final int MOST_UNHEARD = 1000;

  private final Predicate<String> claims;
  private final List<LostChange> unheard = new ArrayList<>();
  private Optional<Consumer<LostChange>> listener = Optional.empty();
  private Optional<ConfigState> common = Optional.empty();

  /**
   * @param claims whether this node is the first of all to tell of a loss, by its name
   */
  LossReport(Predicate<String> claims) {
    this.claims = claims;
  }

  /** Has {@code listener} be told, also of what was lost before. */
  synchronized void onLoss(Consumer<LostChange> newListener) {
    listener = Optional.of(newListener);
    unheard.forEach(newListener);
    unheard.clear();
  }

  /** To be called when another node is gone. */
  synchronized void parted(ConfigState inForce) {
    common = common.or(() -> Optional.of(inForce));
  }

  /** To be called when all that had gone are back, and what they brought has been read. */
  synchronized void whole() {
    common = Optional.empty();
  }

  /**
   * Tells what {@code lost} has of its own, if it has: {@code kept}, of a version that is as high
   * or higher, is in force from now on.
   */
  synchronized void tellIfDeparted(ConfigState lost, ConfigState kept) {
    if (!kept.document().departsFrom(lost.document())) {
      return;
    }
    if (!claims.test(lost.version() + " by " + lost.document().lineage().writer())) {
      return;
    }
    List<LostChange> changes = LostChanges.between(lost, kept, common);
    LOG.warn(
        "configuration version {} had changes of its own, {} of which version {} has not",
        lost.version(),
        changes.size(),
        kept.version());
    for (LostChange change : changes) {
      if (listener.isPresent()) {
        listener.get().accept(change);
      } else if (unheard.size() < MOST_UNHEARD) {
        unheard.add(change);
      }
    }
  }
}
