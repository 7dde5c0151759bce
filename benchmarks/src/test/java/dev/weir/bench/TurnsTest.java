package dev.weir.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TurnsTest {

  private final List<String> had = new ArrayList<>();

  @Test
  void allSidesHaveATurnInEachRound() {
    Table table = take(new Effort(2, Duration.ofMillis(1), 1));
    assertThat(had).containsExactly("one", "other", "one", "other");
    assertThat(table.median("one", "turn")).isEqualTo(2);
  }

  @Test
  void longTurnsComeAfterSomeThatCountForNothing() {
    Table table = take(new Effort(1, Duration.ofSeconds(1), 1));
    assertThat(had).hasSize(8).startsWith("one", "other", "one", "other");
    assertThat(table.median("one", "turn")).isEqualTo(7);
    assertThat(table.median("other", "turn")).isEqualTo(8);
  }

  private Table take(Effort effort) {
    return new Turns().add("one", () -> turn("one")).add("other", () -> turn("other")).take(effort);
  }

  private Map<String, Double> turn(String side) {
    had.add(side);
    return Map.of("turn", (double) had.size());
  }
}
