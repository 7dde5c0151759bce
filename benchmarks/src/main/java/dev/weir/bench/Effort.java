package dev.weir.bench;

import java.time.Duration;

/**
 * How much is done to be certain of the figures.
 *
 * @param rounds in which both sides of a comparison take turns, 1 or more
 * @param length of one side's turn
 * @param keys that there are, 1 or more
 */
record Effort(int rounds, Duration length, int keys) {}
