package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PathTextTest {

  @ParameterizedTest
  @CsvSource({
    "acme, acme",
    "a+b, a+b",
    "a%20b, 'a b'",
    "a%2Fb, a/b",
    "a%252Fb, a%2Fb",
    "a%25b, a%b",
    "%E2%82%ac, €",
    "%2e%2E, ..",
    "a:b;c=d, a:b;c=d"
  })
  void aSegmentIsDecodedOnce(String segment, String text) {
    assertThat(PathText.decode(segment)).isEqualTo(text);
  }

  @Property
  void everyTextComesThroughWhole(@ForAll String text) {
    String wellFormed = new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    String segment = URLEncoder.encode(wellFormed, StandardCharsets.UTF_8).replace("+", "%20");

    assertThat(PathText.decode(segment)).isEqualTo(wellFormed);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "%",
        "a%",
        "%2",
        "%zz",
        "%+1",
        "%-1",
        "%１１",
        "%ff",
        "%C0%80",
        "%ED%A0%80",
        "%E2%82",
        "é"
      })
  void whatIsNotPercentEncodedUtf8IsRefused(String segment) {
    assertThatThrownBy(() -> PathText.decode(segment)).isInstanceOf(RefusedCallException.class);
  }
}
