package dev.weir.config;

/**
 * What a node says of itself.
 *
 * @param address {@code host:port} in the cluster; of the HTTP endpoint when not clustered
 * @param configVersion of the snapshot in force there
 * @param region where it runs
 * @param startedAtMillis epoch milliseconds of its start, by its own clock
 * @param store {@code up} or {@code down}, as seen from there
 */
public record NodeStatus(
    String address, long configVersion, String region, long startedAtMillis, String store) {}
