package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
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
    List<String> ends = new ArrayList<>();
    epochs.onEnd(ends::add);
    epochs.number(7, "a");
    epochs.found(7, "mark");
    assertThat(ends).isEmpty();
    epochs.found(7, "other");
    epochs.number(7, "b");
    assertThat(ends).containsExactly("other", "b");
  }

  @Test
  void aRestartThatLostTheDataIsOneEnd() {
    List<String> ends = new ArrayList<>();
    epochs.number(7, "a");
    epochs.found(7, "mark");
    epochs.onEnd(ends::add);
    epochs.number(7, "b");
    assertThat(epochs.found(7, "other")).isTrue();
    assertThat(ends).containsExactly("b");
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
