package dev.weir.node;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/** Lets a call pass that brings the token; compares in a time that tells nothing about it. */
final class BearerToken implements Handler<RoutingContext> {

  private static final String SCHEME = "Bearer ";

  private final byte[] expected;

  BearerToken(Secret token) {
    this.expected = token.text().getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public void handle(RoutingContext context) {
    if (isBroughtBy(context.request().getHeader(HttpHeaders.AUTHORIZATION))) {
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
