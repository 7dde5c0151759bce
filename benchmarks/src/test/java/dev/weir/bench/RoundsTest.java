package dev.weir.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import org.junit.jupiter.api.Test;

class RoundsTest {

  @Test
  void theMedianIsTheMiddleOneOrBetweenTheTwoInTheMiddle() {
    assertThat(rounds(7).median()).isEqualTo(7);
    assertThat(rounds(100, 1, 3).median()).isEqualTo(3);
    assertThat(rounds(100, 1, 3, 5).median()).isEqualTo(4);
  }

  @Test
  void ratiosAndDifferencesAreOfTheSameRound() {
    // The machine was three times as slow in the second round.
    Rounds slower = rounds(20, 60, 22);
    Rounds faster = rounds(10, 30, 10);
    assertThat(slower.ratioTo(faster)).isEqualTo(2, within(1e-9));
    assertThat(slower.above(faster)).isEqualTo(12);
  }

  @Test
  void aTableHasTheFiguresOfEachSideApart() {
    Table table = new Table();
    table.add("one", Map.of("ns", 10.0));
    table.add("other", Map.of("ns", 30.0, "bytes", 5.0));
    table.add("one", Map.of("ns", 20.0));
    table.add("other", Map.of("ns", 80.0, "bytes", 7.0));
    assertThat(table.median("one", "ns")).isEqualTo(15);
    assertThat(table.median("other", "bytes")).isEqualTo(6);
    assertThat(table.ratio("other", "one", "ns")).isEqualTo(3.5);
    assertThat(table.difference("other", "one", "ns")).isEqualTo(40);
    assertThat(table.has("one", "bytes")).isFalse();
    assertThatThrownBy(() -> table.median("one", "bytes"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no bytes of one");
  }

  private static Rounds rounds(double... figures) {
    Rounds rounds = new Rounds();
    for (double figure : figures) {
      rounds.add(figure);
    }
    return rounds;
  }
}
