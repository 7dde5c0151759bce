/**
 * Plans, endpoint weights and key assignments, and how many nodes there are: shared by all nodes of
 * a cluster over Hazelcast, held in each as an immutable {@link dev.weir.config.ConfigSnapshot}.
 */
package dev.weir.config;
