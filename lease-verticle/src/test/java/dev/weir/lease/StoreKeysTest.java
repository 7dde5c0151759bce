package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.Shard;
import java.nio.charset.StandardCharsets;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

final class StoreKeysTest {

  @Example
  void plainKeysStayAsTheyAre() {
    for (String key : new String[] {"acme", "a_b/c d?#[]", "\u00e9e\u0301\u4e16", "\ud83c\udf0a"}) {
      assertThat(StoreKeys.escape(key)).isEqualTo(key);
    }
  }

  @Example
  void charactersWithAMeaningInNamesAreEscaped() {
    assertThat(StoreKeys.escape("a{b}c:d%e\0\u007f\u0085")).isEqualTo("a%7Bb%7Dc%3Ad%25e%00%7F%85");
    assertThat(StoreKeys.escape("\ud800x\udc00")).isEqualTo("%uD800x%uDC00");
  }

  @Example
  void noKeyIsTheReservedName() {
    assertThat(unescape(StoreKeys.WARM_UP)).isEqualTo("not an escaped key");
  }

  @Example
  void namesCarryTheKeyAsTheirHashTag() {
    assertThat(new StoreKeys("weir").level(StoreKeys.escape("a:b"), "search"))
        .isEqualTo("weir:{a%3Ab}:search:level");
  }

  @Example
  void aSubCounterHasAHashTagOfItsOwnThatNoKeyHas() {
    String tag = StoreKeys.tag("a:b", new Shard(3, 8));
    assertThat(new StoreKeys("weir").level(tag, "search"))
        .isEqualTo("weir:{a%3Ab:8/3}:search:level");
    assertThat(StoreKeys.tag("a:b:8/3", Shard.WHOLE)).isNotEqualTo(tag);
    assertThat(StoreKeys.tag("a:b", Shard.WHOLE)).isEqualTo("a%3Ab");
  }

  @Example
  void aPrefixMustNotMoveTheHashTag() {
    for (String prefix : new String[] {"", "a{b", "a}b", "a b", "a\nb"}) {
      assertThatThrownBy(() -> new StoreKeys(prefix))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("prefix");
    }
  }

  @Property(tries = 5000)
  void escapingLosesNothing(@ForAll("keys") String key) {
    assertThat(unescape(StoreKeys.escape(key))).isEqualTo(key);
  }

  @Property(tries = 5000)
  void escapedKeysSurviveUtf8AndHoldNothingWithAMeaning(@ForAll("keys") String key) {
    String escaped = StoreKeys.escape(key);
    assertThat(new String(escaped.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8))
        .isEqualTo(escaped);
    assertThat(escaped).isNotEmpty().doesNotContain("{", "}", ":");
    assertThat(escaped.chars()).noneMatch(Character::isISOControl);
  }

  @Provide
  Arbitrary<String> keys() {
    return Arbitraries.oneOf(
        Arbitraries.strings().all().ofMaxLength(20),
        Arbitraries.strings()
            .withChars("%{}:u0123ABCDef \0\u0085\ud800\udc00\u00e9".toCharArray())
            .ofMaxLength(12));
  }

  /** The inverse, which production code has no use for. */
  private static String unescape(String escaped) {
    if (escaped.equals("%")) {
      return "";
    }
    StringBuilder key = new StringBuilder();
    for (int i = 0; i < escaped.length(); i++) {
      char c = escaped.charAt(i);
      if (c != '%') {
        key.append(c);
        continue;
      }
      boolean surrogate = escaped.charAt(i + 1) == 'u';
      int from = surrogate ? i + 2 : i + 1;
      int to = surrogate ? i + 6 : i + 3;
      String digits = escaped.substring(from, to);
      if (!digits.matches("[0-9A-F]+")) {
        return "not an escaped key";
      }
      key.append((char) Integer.parseInt(digits, 16));
      i = to - 1;
    }
    return key.toString();
  }
}
