package dev.weir.decision;

import dev.weir.client.CallerKey;
import dev.weir.client.CheckRequest;
import dev.weir.client.Decision;
import dev.weir.client.Decision.Denied;
import dev.weir.client.IpAddress;
import dev.weir.client.RateLimiter;
import dev.weir.config.ConfigSnapshot;
import dev.weir.config.KeySource;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The data plane for gateways: {@code /v1/authorize}. A gateway asks about each request with the
 * request's headers, and lets it through on exactly 200.
 *
 * <p>The answer says who the caller is in {@value #KEY} and {@value #PLAN}, for the gateway to put
 * in the place of what the client may have sent by that name. Both are therefore on every answer,
 * if only empty. In them all but printable ASCII is percent-encoded.
 *
 * <p>Only headers are read; a body is let go by. Without state of its own, so one may serve several
 * event loops.
 */
final class AuthorizeHandler implements Handler<HttpServerRequest> {

  static final String PATH = "/v1/authorize";

  static final String KEY = "X-Weir-Key";
  static final String PLAN = "X-Weir-Plan";

  /**
   * Bears the token of the node for a gateway that has the client's own in {@code Authorization}.
   */
  static final String TOKEN = "X-Weir-Token";

  private static final CharSequence KEY_NAME = HttpHeaders.createOptimized(KEY);
  private static final CharSequence PLAN_NAME = HttpHeaders.createOptimized(PLAN);

  private final RateLimiter limiter;
  private final Supplier<ConfigSnapshot> config;
  private final TrustedProxies proxies;
  private final CallerToken token;
  private final HttpAnswers answers;

  /**
   * @param limiter that decides
   * @param config in force
   * @param proxies whose X-Forwarded-For is believed
   * @param token that gateways have to bear
   */
  AuthorizeHandler(
      RateLimiter limiter,
      Supplier<ConfigSnapshot> config,
      TrustedProxies proxies,
      CallerToken token,
      HttpAnswers answers) {
    this.limiter = limiter;
    this.config = config;
    this.proxies = proxies;
    this.token = token;
    this.answers = answers;
  }

  static boolean serves(String path) {
    return path.startsWith(PATH)
        && (path.length() == PATH.length() || path.charAt(PATH.length()) == '/');
  }

  @Override
  public void handle(HttpServerRequest request) {
    RequestBody.ignore(request);
    identify(request, "", "");
    MultiMap headers = request.headers();
    String authorization = headers.get(HttpHeaders.AUTHORIZATION);
    boolean forUs = false;
    if (token.isAskedFor() && !token.is(headers.get(TOKEN))) {
      if (!token.isBorneBy(authorization)) {
        answers.unauthorized(request, CallerToken.bears(authorization));
        return;
      }
      forUs = true;
    }
    int denyStatus = DenyStatus.read(request.query(), request.path().length() > PATH.length());
    ConfigSnapshot snapshot = config.get();
    AskedRequest asked = AskedRequest.of(request, PATH);
    CheckRequest check =
        CheckRequest.of(keyOf(request, snapshot, forUs))
            .withEndpoint(snapshot.endpointOf(asked.method(), asked.target()));
    answers.whenDone(
        request, limiter.check(check), decision -> answer(request, decision, denyStatus));
  }

  private void answer(HttpServerRequest request, Decision decision, int denyStatus) {
    identify(request, decision.key(), decision.plan());
    if (decision instanceof Denied denied) {
      answers.denial(request, denied, denyStatus);
    } else {
      answers.nothing(request, decision);
    }
  }

  /**
   * @param forUs whether the bearer token is the node's own, and so no key
   */
  private String keyOf(HttpServerRequest request, ConfigSnapshot snapshot, boolean forUs) {
    MultiMap headers = request.headers();
    for (KeySource source : snapshot.gateway().keys()) {
      Optional<String> key = Optional.empty();
      if (source instanceof KeySource.Header header) {
        key = CallerKey.ofHeader(headers.getAll(header.name()));
      } else if (source instanceof KeySource.Bearer && !forUs) {
        key = CallerKey.ofBearer(headers.getAll(HttpHeaders.AUTHORIZATION));
      }
      if (key.isPresent()) {
        return key.get();
      }
    }
    return CallerKey.ofAddress(
        Optional.ofNullable(request.remoteAddress())
            .map(SocketAddress::hostAddress)
            .flatMap(IpAddress::parse)
            .map(peer -> proxies.clientOf(peer, headers.getAll("X-Forwarded-For"))));
  }

  private static void identify(HttpServerRequest request, String key, String plan) {
    request.response().headers().set(KEY_NAME, encoded(key)).set(PLAN_NAME, encoded(plan));
  }

  private static String encoded(String text) {
    boolean plain = true;
    for (int i = 0; i < text.length() && plain; i++) {
      plain = isPlain(text.charAt(i));
    }
    if (plain) {
      return text;
    }
    StringBuilder out = new StringBuilder();
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      if (isPlain((char) (b & 0xff))) {
        out.append((char) b);
      } else {
        out.append('%');
        out.append(Character.toUpperCase(Character.forDigit(b >> 4 & 0xf, 16)));
        out.append(Character.toUpperCase(Character.forDigit(b & 0xf, 16)));
      }
    }
    return out.toString();
  }

  private static boolean isPlain(char c) {
    return c > ' ' && c < 0x7f && c != '%';
  }
}
