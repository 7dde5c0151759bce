package dev.weir.client;

import static dev.weir.client.Decisions.allowed;
import static dev.weir.client.Decisions.denied;
import static dev.weir.client.Decisions.status;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.Decision.Allowed;
import dev.weir.client.Decision.Denied;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class RateLimitHeadersTest {

  private static final long NOW = 1_700_000_000_500L;
  private static final LimitStatus GOLD = status("default", 1000, 10, 981, 190);

  @Provide
  Arbitrary<Decision> decisions() {
    return Decisions.any();
  }

  @Test
  void anAllowedRequestCarriesEveryNumber() {
    MultiMap headers = of(allowed("acme", GOLD));

    assertThat(headers.get("X-RateLimit-Limit")).isEqualTo("1000");
    assertThat(headers.get("X-RateLimit-Remaining")).isEqualTo("981");
    assertThat(headers.get("X-RateLimit-Reset")).isEqualTo("1700000001");
    assertThat(headers.get("X-RateLimit-Stale")).isEqualTo("0.0");
    assertThat(headers.get("RateLimit-Policy")).isEqualTo("\"default\";q=1000;w=10");
    assertThat(headers.get("RateLimit")).isEqualTo("\"default\";r=981;t=1");
    assertThat(headers.contains("Retry-After")).isFalse();
    assertThat(headers.contains("X-RateLimit-Degraded")).isFalse();
  }

  @Test
  void everyLimitIsAMemberOfTheLists() {
    MultiMap headers = of(allowed("acme", GOLD, status("month", 5, 2_592_000, 0, 0)));

    assertThat(headers.get("RateLimit-Policy"))
        .isEqualTo("\"default\";q=1000;w=10, \"month\";q=5;w=2592000");
    assertThat(headers.get("RateLimit")).isEqualTo("\"default\";r=981;t=1, \"month\";r=0;t=0");
  }

  @Test
  void retryAfterIsRoundedUpAndAtLeastOne() {
    assertThat(of(denied(0, GOLD)).get("Retry-After")).isEqualTo("1");
    assertThat(of(denied(900, GOLD)).get("Retry-After")).isEqualTo("1");
    assertThat(of(denied(1_000, GOLD)).get("Retry-After")).isEqualTo("1");
    assertThat(of(denied(1_001, GOLD)).get("Retry-After")).isEqualTo("2");
  }

  @Test
  void aRequestThatNeverFitsIsNotToldToRetry() {
    assertThat(of(denied(Denied.NEVER, GOLD)).contains("Retry-After")).isFalse();
  }

  @Test
  void stalenessHasOneDecimalAndDegradationIsFlagged() {
    MultiMap headers = of(new Allowed("acme", "gold", GOLD, List.of(GOLD), 1_260, true));

    assertThat(headers.get("X-RateLimit-Stale")).isEqualTo("1.3");
    assertThat(headers.get("X-RateLimit-Degraded")).isEqualTo("true");
  }

  @Test
  void theNameOfALimitCannotEndItsString() {
    MultiMap headers = of(allowed("acme", status("a\"b\\c\r\nü", 1, 1, 1, 0)));

    assertThat(headers.get("RateLimit")).isEqualTo("\"a\\\"b\\\\c%0D%0A%C3%BC\";r=1;t=0");
  }

  @Property
  void anyDecisionMakesWellFormedFields(@ForAll("decisions") Decision decision) {
    MultiMap headers = of(decision);

    String member = "\"(?:[ !#-\\[\\]-~]|\\\\[\"\\\\])*\"";
    String integer = "[0-9]{1,15}";
    assertThat(headers.get("RateLimit-Policy"))
        .matches(listOf(member + ";q=" + integer + ";w=" + integer));
    assertThat(headers.get("RateLimit"))
        .matches(listOf(member + ";r=" + integer + ";t=" + integer));
    assertThat(headers.get("X-RateLimit-Reset")).matches("[0-9]+");
    assertThat(headers.get("X-RateLimit-Stale")).matches("[0-9]+\\.[0-9]");
  }

  private static String listOf(String member) {
    return member + "(?:, " + member + ")*";
  }

  private static MultiMap of(Decision decision) {
    MultiMap headers = HttpHeaders.headers();
    RateLimitHeaders.addTo(headers, decision, NOW);
    return headers;
  }
}
