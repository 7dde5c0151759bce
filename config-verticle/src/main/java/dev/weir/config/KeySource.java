package dev.weir.config;

/** A place of a request that goes through a gateway where the key may be. */
public sealed interface KeySource {

  /**
   * The value of a header of the client's.
   *
   * @param name a field name of HTTP, in any case
   */
  record Header(String name) implements KeySource {}

  /** The token of {@code Authorization: Bearer}. */
  record Bearer() implements KeySource {}

  /** The address of the client. Every request has one. */
  record Address() implements KeySource {}
}
