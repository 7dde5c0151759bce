package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class KeyRoomTest {

  private static final long MIB = 1 << 20;

  @Test
  void theHeapBoundsWhatIsAskedFor() {
    assertThat(KeyRoom.in(192 * MIB, 1_000_000, false))
        .isEqualTo(new KeyRoom(262_144, 98_304, 16_384));
    assertThat(KeyRoom.in(192 * MIB, 1_000_000, true).keys()).isEqualTo(131_072);
  }

  @Test
  void whatIsAskedForBoundsTheKeysAndNothingElse() {
    KeyRoom room = KeyRoom.in(4096 * MIB, 1_000, true);
    assertThat(room).isEqualTo(new KeyRoom(1_000, 2_097_152, 100_000));
  }

  @Test
  void theSmallestHeapHasRoomForOne() {
    assertThat(KeyRoom.in(1, 5, true)).isEqualTo(new KeyRoom(1, 1, 1));
    assertThatThrownBy(() -> new KeyRoom(1, 0, 1)).hasMessageContaining("levels 0");
  }

  @Test
  void textTakesPlacesByItsLength() {
    assertThat(KeyRoom.places("")).isEqualTo(1);
    assertThat(KeyRoom.places("k".repeat(127))).isEqualTo(1);
    assertThat(KeyRoom.places("k".repeat(128))).isEqualTo(2);
    assertThat(KeyRoom.places("k".repeat(1024))).isEqualTo(9);
  }
}
