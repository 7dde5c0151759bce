package dev.weir.node;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says what keeps this region from giving weight to others, once when that begins. Safe to use from
 * any thread.
 */
final class HeldWeights {

  /** Exchanges in a row after which it is worth a line: giving takes some by itself. */
  static final int LONG = 10;

  private static final Logger LOG = LoggerFactory.getLogger(HeldWeights.class);

  private final Map<String, Integer> unsettled = new ConcurrentHashMap<>();
  private final Set<String> unwritten = ConcurrentHashMap.newKeySet();

  /**
   * Notes an exchange with {@code region}.
   *
   * @param nodes that do not say that they have what was given before; none if all do
   */
  void exchanged(String region, List<String> nodes) {
    if (nodes.isEmpty()) {
      Integer exchanges = unsettled.remove(region);
      if (exchanges != null && exchanges >= LONG) {
        LOG.info("weight can be given to region {} again", region);
      }
    } else if (unsettled.merge(region, 1, Integer::sum) == LONG) {
      LOG.warn(
          "no weight is given to region {}: not every node has told that it enforces what was given"
              + " before, and has it on its disk: {}",
          region,
          String.join(", ", nodes));
    }
  }

  /** Notes that what an exchange with {@code region} came to has been written down. */
  void written(String region) {
    unwritten.remove(region);
  }

  /** Notes that it has not. */
  void unwritten(String region, String reason) {
    if (unwritten.add(region)) {
      LOG.warn("weight was not given to region {}: {}", region, reason);
    }
  }
}
