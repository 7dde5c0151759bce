package dev.weir.config;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plans file that a node is started with, and what becomes of a configuration that is there
 * already.
 *
 * @param plans what the file says
 * @param authoritative whether it replaces all that a file can say, so that plans, weights, rules
 *     and assignments that it has not are gone; else it adds what is not there yet. Overrides stay
 *     either way
 * @param region where the node runs
 */
public record Seed(PlansFile plans, boolean authoritative, String region) {

  private static final Logger LOG = LoggerFactory.getLogger(Seed.class);

  /** One that adds what is not there yet, of a node that runs in {@code default}. */
  public static Seed adding(PlansFile plans) {
    return new Seed(plans, false, "default");
  }

  /**
   * What a node that knows of {@code there} begins with: a new version of it, if the file brings
   * something. A file that has been brought in before adds nothing, so that what was removed since
   * stays so.
   *
   * @param writer of the version that this makes
   * @throws ConfigRefusedException if the file does not go with what is there
   */
  ConfigState appliedTo(Optional<ConfigState> there, String writer) {
    if (there.isEmpty()) {
      return ConfigState.first(plans, region, writer);
    }
    ConfigState before = there.get();
    requireRegionOf(before);
    if (authoritative) {
      return replacing(before).nextAfter(before, writer);
    }
    tellOfDifferences(before.document());
    boolean known = before.document().lineage().seeds().contains(plans.digest());
    return known ? before : adding(before).nextAfter(before, writer);
  }

  /**
   * Refuses a node of another region, before anything of it is taken in.
   *
   * @throws ConfigRefusedException 409 if limits are divided in {@code there}, by another region
   */
  void requireRegionOf(ConfigState there) {
    Regions regions = there.document().regions();
    if (regions.divided() && !regions.self().equals(region)) {
      throw new ConfigRefusedException(
          409,
          List.of(
              "region: must be "
                  + Errors.shown(regions.self())
                  + ", which the cluster or data_dir is of, was "
                  + Errors.shown(region)));
    }
  }

  private ConfigState adding(ConfigState before) {
    Map<String, Optional<String>> missing = new HashMap<>();
    plans
        .keys()
        .forEach(
            (key, plan) -> {
              if (!before.assignments().containsKey(key)) {
                missing.put(key, Optional.of(plan));
              }
            });
    return new ConfigState(
        before.document().adding(plans, region),
        before.assignments().changedBy(missing),
        before.overrides());
  }

  private ConfigState replacing(ConfigState before) {
    KeyMap<String> assignments =
        before.assignments().equals(plans.keys()) ? before.assignments() : KeyMap.of(plans.keys());
    return new ConfigState(
        before.document().replacedBy(plans, region), assignments, before.overrides());
  }

  /** Who has edited a plan in the file and starts the node again should not wonder. */
  private void tellOfDifferences(ConfigDocument there) {
    Set<String> differing = new HashSet<>(there.plans().keySet());
    differing.retainAll(plans.plans().keySet());
    differing.removeIf(name -> plans.plans().get(name).equals(there.plans().get(name)));
    if (!differing.isEmpty()) {
      LOG.warn(
          "the plans file has other numbers for {} than are in force, which stand:"
              + " plans_authoritative has the file replace them",
          differing.stream().sorted().toList());
    }
    RegionWeights table = there.regions().table();
    if (!table.isEmpty() && !plans.regions().isEmpty() && !table.equals(plans.regions())) {
      LOG.warn("the plans file has another table of regions than is in force, which stands");
    }
  }
}
