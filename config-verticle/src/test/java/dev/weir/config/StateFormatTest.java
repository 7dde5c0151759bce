package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class StateFormatTest {

  private static final ConfigState STATE = SampleStates.rich();
  private static final byte[] BYTES = StateFormat.write(STATE);

  @Example
  void whatIsWrittenIsReadBack() {
    assertThat(StateFormat.read(BYTES)).isEqualTo(STATE);
    ConfigState bare = ConfigState.first(PlansFile.parse("plans: {}"), "default", "me");
    assertThat(StateFormat.read(StateFormat.write(bare))).isEqualTo(bare);
  }

  @Example
  void peopleCanReadIt() {
    assertThat(new String(BYTES, StandardCharsets.UTF_8).lines())
        .hasSize(2 + 4)
        .first()
        .asString()
        .matches("weir configuration 1 [0-9a-f]{64}");
    assertThat(new String(BYTES, StandardCharsets.UTF_8))
        .contains(
            "{\"key\":\"alone\",\"override\":{\"rate\":0.25,\"period\":\"1h\",\"capacity\":7}}");
  }

  @Property(tries = 2000)
  void aBitThatHasFlippedIsNeverTakenForAnotherConfiguration(
      @ForAll @IntRange(max = 100_000) int anywhere, @ForAll @IntRange(max = 7) int bit) {
    byte[] flipped = BYTES.clone();
    flipped[anywhere % flipped.length] ^= (byte) (1 << bit);
    assertDamaged(flipped);
  }

  @Property(tries = 1000)
  void aFileCutOffAnywhereIsNeverTakenForAnotherConfiguration(
      @ForAll @IntRange(max = 100_000) int anywhere) {
    assertDamaged(Arrays.copyOf(BYTES, anywhere % BYTES.length));
  }

  @Property(tries = 500)
  void whatIsOverwrittenOrAppendedIsNeverTakenForAnotherConfiguration(
      @ForAll byte[] garbage, @ForAll @IntRange(max = 100_000) int anywhere) {
    int start = anywhere % (BYTES.length + 1);
    byte[] mixed = Arrays.copyOf(BYTES, Math.max(BYTES.length, start + garbage.length));
    System.arraycopy(garbage, 0, mixed, start, garbage.length);
    if (!Arrays.equals(mixed, BYTES)) {
      assertDamaged(mixed);
    }
  }

  @Property
  void anythingElseIsRefused(@ForAll byte[] bytes) {
    assertDamaged(bytes);
  }

  @Example
  void aFormatOfTheFutureIsToldAsSuch() {
    byte[] newer = BYTES.clone();
    newer["weir configuration ".length()] = '2';
    assertThatThrownBy(() -> StateFormat.read(newer))
        .hasMessage("has a format that this version of Weir does not know");
  }

  private static void assertDamaged(byte[] bytes) {
    assertThatThrownBy(() -> StateFormat.read(bytes)).isInstanceOf(IllegalArgumentException.class);
  }
}
