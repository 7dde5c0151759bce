/**
 * Decides: local buckets that spend leased permits, and the ways to ask them: HTTP and the event
 * bus.
 */
package dev.weir.decision;
