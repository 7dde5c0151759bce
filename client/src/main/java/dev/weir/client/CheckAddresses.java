package dev.weir.client;

/**
 * Where decisions are asked for on the event bus.
 *
 * <p>Both addresses take a {@link CheckRequest} and reply a {@link Decision}, or take a {@code
 * JsonObject} and reply one. A refusal fails the request with code 400, 403, 404 or 422 and a
 * message.
 */
public final class CheckAddresses {

  /** Served by a node to the verticles of its own Vert.x. */
  public static final String LOCAL = "weir.check";

  /** Served by the nodes to members of the Vert.x cluster that run no decision verticle. */
  public static final String CLUSTER = "weir.check.cluster";

  private CheckAddresses() {}
}
