/** Weir in use, small enough to be copied. */
package dev.weir.examples;
