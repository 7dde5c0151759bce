package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

final class BackoffTest {
  private final Backoff backoff = new Backoff(new Random(7));

  @Test
  void doublesUpToTheLongestWaitAndKeepsARandomHalf() {
    for (long ceiling : new long[] {50, 100, 200, 400, 800, 1600, 2000, 2000, 2000}) {
      assertThat(backoff.nextMillis()).isBetween(ceiling / 2, ceiling);
    }
  }

  @Test
  void beginsAnewAfterAReset() {
    for (int i = 0; i < 10; i++) {
      backoff.nextMillis();
    }
    backoff.reset();
    assertThat(backoff.nextMillis()).isBetween(25L, 50L);
  }
}
