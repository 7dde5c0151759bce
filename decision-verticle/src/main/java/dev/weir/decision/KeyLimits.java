package dev.weir.decision;

import dev.weir.client.LimitStatus;
import dev.weir.config.Plan;
import java.util.List;

/**
 * The limits in force for a key, with what is left of each, freshly read from the store.
 *
 * @param key whose limits
 * @param plan that it is on
 * @param statuses one per limit of the plan, in its order; none if it is unlimited
 * @param staleMillis since the store was read; 0 unless it could not be
 * @param degraded whether the store could not be read
 */
public record KeyLimits(
    String key, Plan plan, List<LimitStatus> statuses, long staleMillis, boolean degraded) {}
