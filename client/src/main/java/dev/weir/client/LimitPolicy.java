package dev.weir.client;

/**
 * What a limit promises, in the terms of draft-ietf-httpapi-ratelimit-headers-10: a quota over a
 * window.
 *
 * @param name of the limit in its plan
 * @param quota permits: the capacity of a bucket, the limit of a window
 * @param windowSeconds over which the quota is granted anew, rounded up; for a bucket, the time
 *     that an empty one takes to fill
 */
public record LimitPolicy(String name, long quota, long windowSeconds) {}
