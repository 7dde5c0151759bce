package dev.weir.config;

import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What becomes of requests that the store does not decide in time, and no permit held suffices for.
 */
public enum OnStoreFailure {
  /** A node holds them to its part of each limit. */
  DEGRADE("degrade"),
  /** They are allowed, and charged when the store is back. */
  OPEN("open"),
  /** They are refused, and spend nothing. */
  CLOSED("closed");

  private final String wireName;

  OnStoreFailure(String wireName) {
    this.wireName = wireName;
  }

  /** The name in YAML and JSON. */
  public String wireName() {
    return wireName;
  }

  static Optional<OnStoreFailure> of(Object wireName) {
    return Stream.of(values()).filter(policy -> policy.wireName.equals(wireName)).findFirst();
  }

  static String all() {
    return Stream.of(values()).map(OnStoreFailure::wireName).collect(Collectors.joining(", "));
  }
}
