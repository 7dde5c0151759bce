package dev.weir.config;

/**
 * What a node says of itself.
 *
 * @param address {@code host:port} in the cluster; of the HTTP endpoint when not clustered
 * @param configVersion of the snapshot in force there
 * @param given tells apart what its region has given to others, as it is in force there; empty if
 *     nothing
 * @param savedGiven the same, as it is on the disk there
 * @param region where it runs
 * @param startedAtMillis epoch milliseconds of its start, by its own clock
 * @param store {@code up} or {@code down}, as seen from there
 */
public record NodeStatus(
    String address,
    long configVersion,
    String given,
    String savedGiven,
    String region,
    long startedAtMillis,
    String store) {}
