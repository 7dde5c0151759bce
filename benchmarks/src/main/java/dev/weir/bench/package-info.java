/** How fast Weir is, beside others and beside what the machine gives. */
package dev.weir.bench;
