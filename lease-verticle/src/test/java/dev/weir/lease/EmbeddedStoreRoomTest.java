package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Algorithm;
import dev.weir.config.FixedWindow;
import dev.weir.config.Limit;
import dev.weir.config.SlidingLog;
import dev.weir.config.SlidingWindow;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** More levels come than the embedded store has room for. */
final class EmbeddedStoreRoomTest {

  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final int ROOM = 30;

  private static final Limit SHORT = limit(new TokenBucket(100, Duration.ofSeconds(1), 100));

  private final VirtualClock clock = new VirtualClock();
  private final EmbeddedStore store =
      new EmbeddedStore(AccountingWindow.of(MINUTE), clock, new KeyRoom(ROOM, ROOM, ROOM));

  private static Limit limit(Algorithm algorithm) {
    return new Limit("limit", Set.of(), algorithm, false);
  }

  static List<Limit> limitsOfTen() {
    return List.of(
        limit(new TokenBucket(10, Duration.ofHours(1), 10)),
        limit(new SlidingWindow(10, Duration.ofHours(1))),
        limit(new FixedWindow(10, new WindowPeriod.Every(Duration.ofHours(1)))),
        limit(new SlidingLog(10, Duration.ofHours(1))));
  }

  private Answered take(String key, Limit limit, long need, Take.Told told, long grantedIn) {
    Take take = new Take(limit, 0, grantedIn, 0, need, need, told);
    return (Answered)
        StoreDriver.await(store.refill(List.of(new Refill(key, List.of(take)))).get(0));
  }

  private long granted(String key, Limit limit, long need) {
    return take(key, limit, need, Take.Told.NOTHING, 0).levels().get(0).granted();
  }

  private void flood(int keys, Limit limit) {
    for (int i = 0; i < keys; i++) {
      assertThat(granted("flood" + i, limit, 1)).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @MethodSource("limitsOfTen")
  void levelsThatLeakAwaySoonMakeRoomForThoseThatDoNot(Limit limit) {
    assertThat(granted("slow", limit, 7)).isEqualTo(7);
    flood(1_000, SHORT);
    assertThat(store.droppedCount()).isPositive();
    assertThat(granted("slow", limit, 4)).isZero();
    assertThat(granted("slow", limit, 3)).isEqualTo(3);
  }

  @ParameterizedTest
  @MethodSource("limitsOfTen")
  void aNodeThatWasToldOfADroppedLevelBringsItBack(Limit limit) {
    Answered answer = take("acme", limit, 7, Take.Told.NOTHING, 0);
    Level level = answer.levels().get(0);
    long end = answer.storeMicros() + level.consumption().leftMicros();
    Take.Told told = new Take.Told(level.used(), answer.epoch());
    flood(1_000, limit(new TokenBucket(1, Duration.ofDays(365), 10)));
    long ofWindow = limit.algorithm().windowed() ? end : 0;

    assertThat(take("acme", limit, 4, told, ofWindow).levels().get(0).granted()).isZero();
    assertThat(take("acme", limit, 3, told, ofWindow).levels().get(0).granted()).isEqualTo(3);
  }

  @Test
  void whatANodeWasToldIsNotCountedAgainWhileTheLevelIsThere() {
    Limit limit = limitsOfTen().get(0);
    Answered answer = take("acme", limit, 7, Take.Told.NOTHING, 0);
    Take.Told told = new Take.Told(10, answer.epoch());
    flood(1_000, SHORT);
    assertThat(store.droppedCount()).isNotEqualTo(told.epoch());
    assertThat(take("acme", limit, 3, told, 0).levels().get(0).granted()).isEqualTo(3);
  }

  @Test
  void nothingIsDroppedThatHasRoom() {
    flood(ROOM, SHORT);
    assertThat(store.droppedCount()).isZero();
    clock.advance(Duration.ofSeconds(20));
    for (int i = 0; i < 20 * ROOM; i++) {
      assertThat(granted("later" + i, SHORT, 1)).isEqualTo(1);
      clock.advance(Duration.ofSeconds(1));
    }
    assertThat(store.droppedCount()).isZero();
  }

  @Test
  void aLongKeyTakesTheRoomOfSeveral() {
    String text = "k".repeat(1_000);
    for (int i = 0; i < 4; i++) {
      assertThat(granted(text + i, SHORT, 1)).isEqualTo(1);
    }
    assertThat(store.droppedCount()).isEqualTo(1);
  }
}
