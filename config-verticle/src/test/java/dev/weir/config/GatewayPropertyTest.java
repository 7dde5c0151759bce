package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** No spelling of a path makes a request cheaper than the server behind will find it to be. */
class GatewayPropertyTest {

  private static final ConfigSnapshot CONFIG =
      ConfigState.first(
              PlansFile.parse(
                  """
                  plans: {p: {rate: 1}}
                  endpoints: {search: 10, health: 0, deep: 3}
                  gateway:
                    rules:
                      - "GET /health -> health"
                      - "GET /search/** -> search"
                      - "GET /health/*/deep -> deep"
                  """),
              "default",
              "me")
          .snapshot();

  /** Spellings that some server takes for the plain one. */
  @Provide
  Arbitrary<List<UnaryOperator<String>>> tricks() {
    return Arbitraries.<UnaryOperator<String>>of(
            List.of(
                path -> "/" + path,
                path -> path.replaceFirst("/", "//"),
                path -> path.replaceFirst("/", "/./"),
                path -> path.replaceFirst("/", "/%2e/"),
                path -> path.replaceFirst("/", "/health/../"),
                path -> path.replaceFirst("/", "/health/%2E%2e/"),
                path -> path.replaceFirst("/", "/health/.%2e/"),
                path -> path.replaceFirst("/", "/health//../../"),
                path -> path.replaceFirst("/", "/health/..;a=b/"),
                path -> path.replaceFirst("/", "/../"),
                path -> path.replaceFirst("sea", "s%65a"),
                path -> path.replaceFirst("rch", "rc%68"),
                path -> path.replaceFirst("/(?=.*x)", "/;q/"),
                path -> path + "?/../health",
                path -> path + "#/../health",
                path -> path + "/",
                path -> path + ";q=1",
                path -> path + "/.",
                path -> path + "/%2e",
                path -> path + "/x/..",
                path -> path + "/x/..%2f",
                path -> path + "/x/..%5c",
                path -> path + "\\x\\.."))
        .list()
        .ofMaxSize(4);
  }

  @Property
  void aPathThatServersTakeForADearOneCostsNoLess(
      @ForAll("dear") String plain,
      @ForAll("tricks") List<UnaryOperator<String>> tricks,
      @ForAll boolean absolute) {
    String path = plain;
    for (UnaryOperator<String> trick : tricks) {
      path = trick.apply(path);
    }
    path = absolute ? "http://health:80" + path : path;

    assertThat(CONFIG.weight(CONFIG.endpointOf("GET", path))).as(path).isEqualTo(10);
  }

  @Provide
  Arbitrary<String> dear() {
    return Arbitraries.of("/search", "/search/x", "/search/a/b/x");
  }

  /** Each is one way to take a path, from the strictest to the most lenient. */
  private static final List<UnaryOperator<String>> SERVERS =
      List.of(
          path -> path,
          GatewayPropertyTest::withoutDots,
          path -> withoutDots(path.replaceAll("/{2,}", "/")),
          path -> withoutDots(decodeSlashes(path).replaceAll("/{2,}", "/")),
          path -> withoutDots(decodeSlashes(path.replaceAll(";[^/]*", ""))),
          path -> withoutDots(path.replaceAll(";[^/]*", "").replaceAll("/{2,}", "/")),
          path -> withoutDots(path.replace('\\', '/').replaceAll("/{2,}", "/")),
          path -> withoutDots(path.replaceAll("#.*", "")));

  @Property(tries = 5000)
  void aRequestCostsAtLeastWhatAnyServerBehindTakesItFor(@ForAll("pieces") String path) {
    long cost = CONFIG.weight(CONFIG.endpointOf("GET", path));

    for (UnaryOperator<String> server : SERVERS) {
      String taken = server.apply(path).replaceAll("/{2,}", "/").replaceAll("(?<=.)/$", "");
      if (taken.equals("/search") || taken.startsWith("/search/")) {
        assertThat(cost).as(path + " as " + taken).isEqualTo(10);
      } else if (taken.matches("/health/[^/]+/deep")) {
        assertThat(cost).as(path + " as " + taken).isGreaterThanOrEqualTo(3);
      }
    }
  }

  @Provide
  Arbitrary<String> pieces() {
    Arbitrary<String> piece =
        Arbitraries.of(
            "/", "/", "/", "search", "health", "deep", ".", "..", "x", ";", ";a", "\\", "#", "%2f",
            "%2F");
    return Combinators.combine(piece.list().ofMaxSize(10), Arbitraries.of("/", "/search/", ""))
        .as((pieces, start) -> start + String.join("", pieces))
        .filter(path -> path.startsWith("/"));
  }

  @Property
  void anyTextHasAnEndpoint(@ForAll String method, @ForAll String target) {
    assertThat(CONFIG.endpointOf(method, target)).isIn("", "health", "search", "deep");
  }

  private static String decodeSlashes(String path) {
    return path.replaceAll("%2[fF]", "/");
  }

  /** RFC 3986, section 5.2.4. */
  private static String withoutDots(String path) {
    List<String> kept = new ArrayList<>();
    for (String segment : path.substring(1).split("/", -1)) {
      if (segment.equals("..")) {
        if (!kept.isEmpty()) {
          kept.remove(kept.size() - 1);
        }
      } else if (!segment.equals(".")) {
        kept.add(segment);
      }
    }
    return "/" + String.join("/", kept);
  }
}
