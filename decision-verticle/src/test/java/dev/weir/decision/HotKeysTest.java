package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.weir.config.Plan;
import dev.weir.lease.VirtualClock;
import java.time.Duration;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HotKeysTest {

  private static final long SECOND = 1_000_000;
  private static final Duration YEAR = Duration.ofDays(365);

  private final HotKeys hot = new HotKeys();
  private final VirtualClock clock = new VirtualClock();

  private TestNode node(Plan... plans) {
    return new TestNode(clock, TestStores.embedded(clock), Plans.config(plans), 1000);
  }

  @Test
  void theTopKeysAreThoseWithTheMost() {
    for (int i = 1; i <= 100; i++) {
      hot.taken("key-" + i, i, 0);
      hot.denied("denied-" + i % 10, 0);
    }
    assertThat(hot.top(3, 0).taken())
        .containsOnly(entry("key-100", 100L), entry("key-99", 99L), entry("key-98", 98L));
    assertThat(hot.top(20, 0).denied())
        .hasSize(10)
        .allSatisfy((key, count) -> assertThat(count).isEqualTo(10));
  }

  @Test
  void whatIsOlderThanAMinuteIsForgotten() {
    hot.taken("old", 7, 0);
    hot.taken("old", 1, 31 * SECOND);
    assertThat(hot.top(9, 59 * SECOND).taken()).containsOnly(entry("old", 8L));
    assertThat(hot.top(9, 62 * SECOND).taken()).containsOnly(entry("old", 1L));
    hot.taken("old", 5, 63 * SECOND);
    assertThat(hot.top(9, 1_000 * SECOND).taken()).isEmpty();
  }

  @Test
  void heavyKeysStandOutAmongAMillionOthers() {
    for (int i = 0; i < 1_000_000; i++) {
      hot.taken("light-" + i, 1, 0);
      if (i % 50 == 0) {
        hot.taken("heavy-" + i % 250, 1, 0);
      }
    }
    assertThat(hot.top(5, 0).taken().keySet())
        .containsExactlyInAnyOrder("heavy-0", "heavy-50", "heavy-100", "heavy-150", "heavy-200");
  }

  @Test
  void aNodeTellsWhatItsKeysTookAndHowOftenTheyWereDenied() {
    TestNode node = node(Plans.bucket("p", 1, YEAR, 100), Plans.bucket("q", 1, YEAR, 1_000_000));
    node.allowedOf(130, "greedy");
    node.allowedOf(20, "modest");
    node.check("modest", 0);

    HotKeyCounts counts = node.decider.hotKeys(10);
    assertThat(counts.denied()).isEqualTo(Map.of("greedy", 30L));
    assertThat(counts.taken().get("greedy")).isEqualTo(100);
    // With a permit that is still held.
    assertThat(counts.taken().get("modest")).isBetween(20L, 21L);
  }

  @Test
  void aShadowPlanDeniesNobody() {
    TestNode node = node(Plans.shadow(Plans.bucket("p", 1, YEAR, 10)));
    IntStream.range(0, 30).forEach(i -> node.check("a", 1));
    assertThat(node.decider.hotKeys(10).denied()).isEmpty();
  }
}
