package dev.weir.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CallerKeyTest {

  @Test
  void aHeadersValueIsTheKeyAsItIs() {
    assertThat(CallerKey.ofHeader(List.of("acme"))).contains("acme");
    assertThat(CallerKey.ofHeader(List.of(" a b \t"))).contains("a b");
    assertThat(CallerKey.ofHeader(List.of(onTheWire("größe 🙂")))).contains("größe 🙂");
    assertThat(CallerKey.ofHeader(List.of("k".repeat(1024)))).contains("k".repeat(1024));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "\u00ff", "a\u00c3", "ip:192.0.2.1", "ip:", "sha256:00"})
  void whatIsNoKeyIsNone(String value) {
    assertThat(CallerKey.ofHeader(List.of(value))).isEmpty();
    assertThat(CallerKey.ofBearer(List.of("Bearer " + value))).isEmpty();
  }

  @Test
  void ofTwoValuesNeitherIsTheKey() {
    assertThat(CallerKey.ofHeader(List.of())).isEmpty();
    assertThat(CallerKey.ofHeader(List.of("acme", "junk"))).isEmpty();
    assertThat(CallerKey.ofBearer(List.of("Bearer a", "Bearer b"))).isEmpty();
  }

  @Test
  void aBearerTokenIsTheKeyAsItIs() {
    assertThat(CallerKey.ofBearer(List.of("Bearer tok-1"))).contains("tok-1");
    assertThat(CallerKey.ofBearer(List.of("bEARER  tok-1 "))).contains("tok-1");
    assertThat(CallerKey.ofBearer(List.of("Basic YTpi"))).isEmpty();
    assertThat(CallerKey.ofBearer(List.of("Bearer"))).isEmpty();
    assertThat(CallerKey.ofBearer(List.of())).isEmpty();
  }

  @Test
  void aTokenThatIsTooLongForAKeyIsOneByItsDigest() {
    String one = CallerKey.ofBearer(List.of("Bearer " + "k".repeat(1025))).orElseThrow();
    String other = CallerKey.ofBearer(List.of("Bearer " + "k".repeat(1026))).orElseThrow();
    assertThat(one).matches("sha256:[0-9a-f]{64}").isNotEqualTo(other);
  }

  @ParameterizedTest
  @CsvSource({
    "192.0.2.1, ip:192.0.2.1",
    "::ffff:192.0.2.1, ip:192.0.2.1",
    "::ffff:c000:201, ip:192.0.2.1",
    "2001:DB8:1:2:3:4:5:6, ip:2001:db8:1:2::/64",
    "2001:db8:1:2::, ip:2001:db8:1:2::/64",
    "2001:db8:0:1::1, ip:2001:db8:0:1::/64",
    "fe80::1%eth0, ip:fe80::/64",
    "::1, ip:::/64",
  })
  void anAddressIsAKeyBehindItsPrefix(String address, String key) {
    assertThat(CallerKey.ofAddress(IpAddress.parse(address))).isEqualTo(key);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "localhost", "1.2.3", "1.2.3.4:80", "[::1", "1::2::3", "256.1.1.1"})
  void aNameIsNoAddress(String text) {
    assertThat(IpAddress.parse(text)).isEmpty();
  }

  @Test
  void aCallerWithoutAddressHasAKeyAsWell() {
    assertThat(CallerKey.ofAddress(Optional.empty())).isEqualTo("ip:unknown");
  }

  @Property
  void noHeaderMakesTheKeyOfAnAddress(@ForAll String text) {
    assertThat(CallerKey.ofHeader(List.of(onTheWire("ip:" + text)))).isNotPresent();
    CallerKey.ofHeader(List.of(onTheWire(text)))
        .ifPresent(key -> assertThat(key).doesNotStartWith("ip:"));
  }

  @Property
  void anyBytesMakeAKeyOrNone(@ForAll byte[] bytes) {
    CallerKey.ofHeader(List.of(new String(bytes, ISO_8859_1)))
        .ifPresent(key -> assertThat(CheckRequest.of(key).key()).isEqualTo(key));
  }

  @Property
  void addressesOfOneSubscriberHaveOneKey(
      @ForAll long network, @ForAll long one, @ForAll long two) {
    assertThat(keyOf(network, one)).isEqualTo(keyOf(network, two));
    assertThat(keyOf(network ^ 1, one)).isNotEqualTo(keyOf(network, one));
  }

  private static String keyOf(long network, long host) {
    // Not 0 at the front: some of these are IPv4.
    String digits = "%016x%016x".formatted(network | Long.MIN_VALUE, host);
    String text = String.join(":", digits.split("(?<=\\G.{4})"));
    return CallerKey.ofAddress(IpAddress.parse(text));
  }

  /** A text's bytes as Vert.x has them. */
  private static String onTheWire(String text) {
    return new String(text.getBytes(UTF_8), ISO_8859_1);
  }
}
