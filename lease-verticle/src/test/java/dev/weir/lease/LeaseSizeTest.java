package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class LeaseSizeTest {

  @Test
  void doublesFromOneUntilTheCeiling() {
    LeaseSize size = LeaseSize.INITIAL;
    for (long expected : new long[] {2, 4, 8, 16, 20, 20}) {
      size = size.exhausted(20);
      assertThat(size.permits()).isEqualTo(expected);
    }
  }

  @Test
  void growsByStepsAboveTheThreshold() {
    LeaseSize size = new LeaseSize(64, 1000).shrunk();
    assertThat(size).isEqualTo(new LeaseSize(32, 32));
    assertThat(size.exhausted(160).permits()).isEqualTo(42);
    assertThat(size.exhausted(160).exhausted(160).permits()).isEqualTo(52);
  }

  @Test
  void doublingStopsAtTheThreshold() {
    assertThat(new LeaseSize(20, 32).exhausted(1000).permits()).isEqualTo(32);
  }

  @Test
  void halvesAndNeverFallsBelowOne() {
    assertThat(new LeaseSize(9, Long.MAX_VALUE).shrunk()).isEqualTo(new LeaseSize(4, 4));
    assertThat(new LeaseSize(1, 1).shrunk()).isEqualTo(new LeaseSize(1, 1));
  }

  @Test
  void aLoweredCeilingLowersTheNextLease() {
    assertThat(new LeaseSize(500, 1000).exhausted(20).permits()).isEqualTo(20);
  }

  @Test
  void aColdBurstOfTenThousandTakesAboutLogOfTheCeilingPlusItsQuotient() {
    long ceiling = 500;
    LeaseSize size = LeaseSize.INITIAL;
    long leased = size.permits();
    int calls = 1;
    while (leased < 10_000) {
      size = size.exhausted(ceiling);
      leased += size.permits();
      calls++;
    }
    assertThat(calls).isLessThanOrEqualTo(9 + 10_000 / 500);
  }

  @Property
  void staysWithinOneAndTheCeiling(
      @ForAll @LongRange(min = 1) long permits,
      @ForAll @LongRange(min = 1) long threshold,
      @ForAll @LongRange(min = 1) long ceiling) {
    LeaseSize size = new LeaseSize(permits, threshold);
    assertThat(size.exhausted(ceiling).permits()).isBetween(1L, ceiling);
    assertThat(size.shrunk().permits()).isBetween(1L, permits);
  }
}
