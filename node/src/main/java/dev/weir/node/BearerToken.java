package dev.weir.node;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.SecurityPolicyHandler;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Set;

/** Lets a call pass that brings the token; compares in a time that tells nothing about it. */
final class BearerToken implements SecurityPolicyHandler {

  private static final String SCHEME = "Bearer ";

  private final byte[] expected;
  private final Set<String> open;

  /**
   * @param open paths that no token is asked for
   */
  BearerToken(Secret token, Set<String> open) {
    this.open = open;
    this.expected = token.text().getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public void handle(RoutingContext context) {
    if (open.contains(context.request().path())
        || isBroughtBy(context.request().getHeader(HttpHeaders.AUTHORIZATION))) {
      context.next();
    } else {
      context.response().putHeader(HttpHeaderNames.WWW_AUTHENTICATE, "Bearer");
      Problem.of(401, "a bearer token is needed").send(context.response());
    }
  }

  private boolean isBroughtBy(String authorization) {
    return authorization != null
        && authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
        && MessageDigest.isEqual(
            expected, authorization.substring(SCHEME.length()).getBytes(StandardCharsets.UTF_8));
  }
}
