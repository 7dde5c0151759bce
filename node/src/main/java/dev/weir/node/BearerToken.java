package dev.weir.node;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.SecurityPolicyHandler;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Lets a call pass that brings one of the tokens, and says whose it is. */
final class BearerToken implements SecurityPolicyHandler {

  private static final String SCHEME = "Bearer ";

  private static final String CALLER = "dev.weir.node.caller";

  private final Supplier<AdminTokens> tokens;
  private final Set<String> open;

  /**
   * @param tokens that hold at this moment; where there are none, none is asked for
   * @param open paths that no token is asked for
   */
  BearerToken(Supplier<AdminTokens> tokens, Set<String> open) {
    this.tokens = tokens;
    this.open = open;
  }

  /** Who makes the call of {@code context}, which has been let pass. */
  static Caller caller(RoutingContext context) {
    return context.<Caller>get(CALLER, Caller.ANONYMOUS);
  }

  @Override
  public void handle(RoutingContext context) {
    AdminTokens known = tokens.get();
    Optional<Caller> caller =
        bearer(context.request().getHeader(HttpHeaders.AUTHORIZATION)).flatMap(known::callerOf);
    caller.ifPresent(found -> context.put(CALLER, found));
    if (caller.isPresent() || known.isEmpty() || open.contains(RoutedPath.of(context.request()))) {
      context.next();
    } else {
      context.response().putHeader(HttpHeaderNames.WWW_AUTHENTICATE, "Bearer");
      Problem.of(401, "a bearer token is needed").send(context.response());
    }
  }

  private static Optional<String> bearer(String authorization) {
    return Optional.ofNullable(authorization)
        .filter(text -> text.regionMatches(true, 0, SCHEME, 0, SCHEME.length()))
        // RFC 6750, section 2.1: one space or more.
        .map(text -> text.substring(SCHEME.length()).strip());
  }
}
