package dev.weir.client;

/**
 * One limit as a decision left it.
 *
 * @param policy the limit's fixed part
 * @param remaining permits left across the fleet, as far as the node knows; 0 to the policy's quota
 * @param resetAfterMillis until all of the quota is there again, without further traffic
 */
public record LimitStatus(LimitPolicy policy, long remaining, long resetAfterMillis) {}
