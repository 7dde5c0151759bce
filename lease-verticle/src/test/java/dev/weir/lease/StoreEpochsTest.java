package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class StoreEpochsTest {

  private final StoreEpochs epochs = new StoreEpochs(new Random(1));

  @Test
  void anEpochLastsWhileTheHistoryAndItsMarkAreTheSame() {
    long first = epochs.number(7, "a");
    assertThat(first).isNotEqualTo(StoreEpochs.NONE);
    assertThat(epochs.mark(7)).isEmpty();
    assertThat(epochs.found(7, "mark")).isFalse();
    assertThat(epochs.found(7, "mark")).isFalse();
    assertThat(epochs.number(7, "a")).isEqualTo(first);
    assertThat(epochs.mark(7)).isEqualTo("mark");
  }

  @Test
  void anotherMarkBeginsAnother() {
    long first = epochs.number(7, "a");
    epochs.found(7, "mark");
    assertThat(epochs.found(7, "other")).isTrue();
    assertThat(epochs.number(7, "a")).isNotEqualTo(first);
    assertThat(epochs.mark(7)).isEqualTo("other");
  }

  @Test
  void anotherHistoryBeginsAnotherAndKeepsTheMark() {
    long first = epochs.number(7, "a");
    epochs.found(7, "mark");
    long second = epochs.number(7, "b");
    assertThat(second).isNotEqualTo(first);
    assertThat(epochs.number(7, "b")).isEqualTo(second);
    assertThat(epochs.mark(7)).isEqualTo("mark");
  }

  @Test
  void theEndOfEachEpochIsTold() {
    AtomicInteger ends = new AtomicInteger();
    epochs.onEnd(ends::incrementAndGet);
    epochs.number(7, "a");
    epochs.found(7, "mark");
    assertThat(ends).hasValue(0);
    epochs.found(7, "other");
    assertThat(ends).hasValue(1);
    epochs.number(7, "b");
    assertThat(ends).hasValue(2);
  }

  @Test
  void slotsHaveEpochsOfTheirOwn() {
    epochs.number(7, "a");
    epochs.found(7, "mark");
    long other = epochs.number(8, "a");
    assertThat(epochs.mark(8)).isEmpty();
    epochs.found(7, "new");
    assertThat(epochs.number(8, "a")).isEqualTo(other);
  }
}
