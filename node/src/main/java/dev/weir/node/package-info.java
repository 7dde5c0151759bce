/** A runnable node: settings, wiring, the control plane, metrics and health. */
package dev.weir.node;
