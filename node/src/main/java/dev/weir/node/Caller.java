package dev.weir.node;

/**
 * Who makes a call of the control plane.
 *
 * @param name of the token that the call brings
 */
record Caller(String name) {

  /** Where no token is asked for. */
  static final Caller ANONYMOUS = new Caller("anonymous");

  /** Who has the token that is a setting. */
  static final Caller ADMIN = new Caller("admin");

  /** No caller at all: parts of a cluster that had split have become one. */
  static final Caller MERGE = new Caller("merge");

  /** Another region, which asks for weight, or gives some. No token is named like it. */
  static Caller region(String name) {
    return new Caller("region:" + name);
  }
}
