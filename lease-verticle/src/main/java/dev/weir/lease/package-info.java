/**
 * Leasing: how many permits a node takes at once, how refills of many keys travel together, and the
 * store that they come from.
 */
package dev.weir.lease;
