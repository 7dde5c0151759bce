package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ExpiringMapTest {
  private final ExpiringMap<String, String> map = new ExpiringMap<>();

  @Test
  void anEntryIsThereUntilItExpires() {
    map.put("a", "x", 1000, 0);
    assertThat(map.get("a", 999)).contains("x");
    assertThat(map.get("a", 1000)).isEmpty();
    assertThat(map.size()).isZero();
  }

  @Test
  void aNewValueHasALifeOfItsOwn() {
    map.put("a", "x", 1000, 0);
    map.put("a", "y", 5000, 0);
    assertThat(map.get("a", 4999)).contains("y");
    map.remove("a");
    assertThat(map.get("a", 0)).isEmpty();
  }

  @Test
  void whatHasExpiredDoesNotPileUp() {
    long now = 0;
    for (int i = 0; i < 1_000_000; i++) {
      map.put("key" + i, "x", now + 1000.0, now);
      now++;
    }
    assertThat(map.size()).isLessThan(3000);
    assertThat(map.get("key999999", now)).contains("x");
  }

  @Test
  void noneThatIsPutOffAgainAndAgainKeepsOthersFromGoing() {
    for (int now = 0; now < 1_000_000; now++) {
      map.put("busy" + now % 1000, "x", now + 10_000.0, now);
      map.put("key" + now, "x", now + 1000.0, now);
    }
    assertThat(map.size()).isLessThan(4000);
    assertThat(map.get("busy0", 1_000_000)).contains("x");
  }

  @Test
  void entriesThatLiveLongAreKeptThroughAnyNumberOfOthers() {
    map.put("long", "x", Double.MAX_VALUE, 0);
    for (int i = 0; i < 100_000; i++) {
      map.put("key" + i, "x", i, i);
    }
    assertThat(map.get("long", 100_000)).contains("x");
  }
}
