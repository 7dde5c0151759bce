package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.client.IpAddress;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TrustedProxiesTest {

  private final TrustedProxies proxies = trusting("10.0.0.0/8", "192.0.2.1/32", "fd00::/8");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // The peer is nobody's proxy: what it says is its own.
        "203.0.113.9  | 198.51.100.1                          | 203.0.113.9",
        "11.0.0.1     | 198.51.100.1                          | 11.0.0.1",
        "192.0.2.2    | 198.51.100.1                          | 192.0.2.2",
        // From right to left, to the first that is no proxy.
        "10.0.0.1     | 198.51.100.1                          | 198.51.100.1",
        "10.0.0.1     | 8.8.8.8, 198.51.100.1                 | 198.51.100.1",
        "10.0.0.1     | 8.8.8.8, 198.51.100.1, 10.2.3.4       | 198.51.100.1",
        "192.0.2.1    | 8.8.8.8,198.51.100.1,fd12::1,10.2.3.4 | 198.51.100.1",
        "10.0.0.1     | 10.0.0.3, 10.0.0.2                    | 10.0.0.3",
        "10.0.0.1     | ''                                    | 10.0.0.1",
        "fd00::1      | 2001:db8::7                           | 2001:db8::7",
        "::ffff:10.0.0.1 | 198.51.100.1                       | 198.51.100.1",
        "10.0.0.1     | 8.8.8.8, ::ffff:198.51.100.1          | 198.51.100.1",
        "10.0.0.1     | 8.8.8.8, ::ffff:10.2.3.4              | 8.8.8.8",
        // As proxies write addresses.
        "10.0.0.1     | 198.51.100.1:4711                     | 198.51.100.1",
        "10.0.0.1     | [2001:db8::7]                         | 2001:db8::7",
        "10.0.0.1     | [2001:db8::7]:4711                    | 2001:db8::7",
        "10.0.0.1     | [2001:db8::7%eth0]:4711               | 2001:db8::7",
        "10.0.0.1     | fe80::7%eth0                          | fe80::7",
        "10.0.0.1     | '  198.51.100.1\t'                    | 198.51.100.1",
        // What is no address ends the way.
        "10.0.0.1     | 198.51.100.1, unknown                 | 10.0.0.1",
        "10.0.0.1     | 198.51.100.1, unknown, 10.0.0.2       | 10.0.0.2",
        "10.0.0.1     | 198.51.100.1, , 10.0.0.2              | 10.0.0.2",
        "10.0.0.1     | 198.51.100.1,                         | 10.0.0.1",
        "10.0.0.1     | localhost                             | 10.0.0.1",
        "10.0.0.1     | 198.51.100.256                        | 10.0.0.1",
        "10.0.0.1     | 198.51.100.1:port                     | 10.0.0.1",
        "10.0.0.1     | 198.51.100                            | 10.0.0.1",
        "10.0.0.1     | [198.51.100.1                         | 10.0.0.1",
        "10.0.0.1     | 2001:db8::7::1                        | 10.0.0.1",
      })
  void theClientIsTheFirstFromTheRightThatIsNoProxy(String peer, String forwarded, String client) {
    assertThat(proxies.clientOf(address(peer), List.of(forwarded))).isEqualTo(address(client));
  }

  @Test
  void severalHeadersAreOneList() {
    assertThat(proxies.clientOf(address("10.0.0.1"), List.of("8.8.8.8, 1.1.1.1", "10.0.0.2")))
        .isEqualTo(address("1.1.1.1"));
    assertThat(proxies.clientOf(address("10.0.0.1"), List.of())).isEqualTo(address("10.0.0.1"));
  }

  @Test
  void withoutTrustedProxiesNobodyIsBelieved() {
    assertThat(trusting().clientOf(address("127.0.0.1"), List.of("8.8.8.8")))
        .isEqualTo(address("127.0.0.1"));
  }

  @Provide
  Arbitrary<String> anything() {
    return Arbitraries.oneOf(
        Arbitraries.strings(),
        Arbitraries.of("10.0.0.1", "8.8.8.8", "fd00::1", "::1", "unknown", "[", "]", ":", ",", "%")
            .list()
            .ofMaxSize(6)
            .map(pieces -> String.join("", pieces)));
  }

  @Property
  void whateverAClientWritesTheProxyInFrontOfItNamesIt(@ForAll("anything") String written) {
    assertThat(proxies.clientOf(address("10.0.0.1"), List.of(written, "203.0.113.9, 10.0.0.2")))
        .isEqualTo(address("203.0.113.9"));
    assertThat(proxies.clientOf(address("203.0.113.9"), List.of(written)))
        .isEqualTo(address("203.0.113.9"));
  }

  @Property
  void aBlockHasTheAddressesThatShareItsBits(
      @ForAll("addresses") byte[] first,
      @ForAll("addresses") byte[] other,
      @ForAll @IntRange(max = 128) int bits) {
    int length = Math.min(bits, first.length * 8);
    AddressBlock block = AddressBlock.parse(text(first) + "/" + length);

    boolean shared =
        first.length == other.length
            && binary(first).substring(0, length).equals(binary(other).substring(0, length));
    assertThat(block.contains(address(text(other)))).isEqualTo(shared);
    assertThat(block.contains(address(text(first)))).isTrue();
  }

  @Provide
  Arbitrary<byte[]> addresses() {
    // Of few values, so that some share bits.
    Arbitrary<Byte> bytes = Arbitraries.of((byte) 0x20, (byte) 0x21, (byte) 0xa0, (byte) 0xa1);
    return Arbitraries.of(4, 16).flatMap(length -> bytes.array(byte[].class).ofSize(length));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/",
        "10.0.0.0",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "10.0.0.0/8 ",
        "10.0.0/8",
        "fd00::/129",
        "here/8",
        "::ffff:10.0.0.0/95",
        "10.0.0.0/8/8",
        "10.0.0.0/0x8"
      })
  void whatIsNoBlockIsRefused(String text) {
    assertThatThrownBy(() -> AddressBlock.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aBlockOfIpv4WithinIpv6IsThatOfIpv4() {
    assertThat(AddressBlock.parse("::ffff:10.0.0.0/104"))
        .isEqualTo(AddressBlock.parse("10.0.0.0/8"));
  }

  private static TrustedProxies trusting(String... blocks) {
    return new TrustedProxies(
        Arrays.stream(blocks).map(AddressBlock::parse).collect(Collectors.toList()));
  }

  private static IpAddress address(String text) {
    return IpAddress.parse(text).orElseThrow();
  }

  private static String text(byte[] address) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < address.length; i++) {
      if (address.length == 4) {
        out.append(i == 0 ? "" : ".").append(address[i] & 0xff);
      } else {
        out.append(i > 0 && i % 2 == 0 ? ":" : "").append("%02x".formatted(address[i] & 0xff));
      }
    }
    return out.toString();
  }

  private static String binary(byte[] address) {
    StringBuilder out = new StringBuilder();
    for (byte b : address) {
      out.append(Integer.toBinaryString(0x100 | (b & 0xff)).substring(1));
    }
    return out.toString();
  }
}
