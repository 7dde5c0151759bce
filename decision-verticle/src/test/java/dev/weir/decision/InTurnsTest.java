package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class InTurnsTest {

  private final Queue<Runnable> loop = new ArrayDeque<>();
  private int pieces;
  private boolean faulty;
  private final InTurns work = new InTurns(this::piece, loop::add);

  private boolean piece() {
    if (faulty) {
      throw new IllegalStateException("a fault");
    }
    return pieces-- > 0;
  }

  @Test
  void doesOnePieceAndThenLetsOthersHaveTheirTurn() {
    pieces = 3;

    work.begin();

    assertThat(pieces).isEqualTo(2);
    assertThat(loop).hasSize(1);
  }

  @Test
  void goesOnUntilThereIsNothingToDo() {
    pieces = 3;

    work.begin();
    while (!loop.isEmpty()) {
      loop.remove().run();
    }

    assertThat(pieces).isEqualTo(-1);
  }

  @Test
  void isNotBegunTwice() {
    pieces = 3;

    work.begin();
    work.begin();

    assertThat(pieces).isEqualTo(2);
    assertThat(loop).hasSize(1);
  }

  @Test
  void canBeBegunAgainWhenItIsDone() {
    work.begin();
    pieces = 1;

    work.begin();

    assertThat(loop).hasSize(1);
  }

  @Test
  void canBeBegunAgainAfterPieceThatFailed() {
    pieces = 3;
    work.begin();
    faulty = true;
    Runnable next = loop.remove();
    assertThatThrownBy(next::run).isInstanceOf(IllegalStateException.class);
    faulty = false;

    work.begin();

    assertThat(pieces).isEqualTo(1);
    assertThat(loop).hasSize(1);
  }
}
