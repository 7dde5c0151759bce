package dev.weir.node;

import dev.weir.config.Configuration;
import dev.weir.config.KeyLine;
import dev.weir.config.KeyOverride;
import dev.weir.config.KeySetting;
import dev.weir.config.Membership;
import dev.weir.config.Plan;
import dev.weir.config.RegionWeights;
import java.util.List;
import java.util.Optional;

/**
 * Refuses changes of the weights that operators give to regions while a node is missing: it may go
 * on with the weights before, and who has lowered them here would raise them elsewhere next.
 */
final class WeightChanges {

  private final Configuration configuration;
  private final Membership membership;

  WeightChanges(Configuration configuration, Membership membership) {
    this.configuration = configuration;
    this.membership = membership;
  }

  /**
   * @throws RefusedCallException 409 if the weights are others and a node is missing
   */
  void check(RegionWeights before, RegionWeights after) {
    int missing = membership.leasing() - membership.nodes();
    if (missing > 0 && !after.equals(before)) {
      throw new RefusedCallException(
          409,
          "regions: weights cannot be changed while nodes are missing, which may go on with those"
              + " before; missing: "
              + missing);
    }
  }

  /** The same for those of a plan, which is none that keys could be on yet if it is new. */
  void check(Plan plan) {
    configuration
        .current()
        .plan(plan.name())
        .ifPresent(before -> check(before.regions(), plan.regions()));
  }

  /** The same for those of a key. */
  void check(String key, KeySetting setting) {
    if (setting.override().isPresent()) {
      check(of(key), regions(setting.override()));
    }
  }

  /** The same for those of many. */
  void check(List<KeyLine> lines) {
    lines.forEach(line -> check(line.key(), line.setting()));
  }

  /** The same for a key that is to have none any more. */
  void checkCleared(String key) {
    check(of(key), RegionWeights.NONE);
  }

  private RegionWeights of(String key) {
    return regions(Optional.ofNullable(configuration.current().overrides().get(key)));
  }

  private static RegionWeights regions(Optional<KeyOverride> override) {
    return override.map(KeyOverride::regions).orElse(RegionWeights.NONE);
  }
}
