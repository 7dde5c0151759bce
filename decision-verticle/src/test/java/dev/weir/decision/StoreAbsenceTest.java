package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class StoreAbsenceTest {

  private static final long QUIET = StoreAbsence.QUIET_MICROS;

  private final Logger log = (Logger) LoggerFactory.getLogger(StoreAbsence.class);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private long decided = 40;
  private final StoreAbsence absence = new StoreAbsence(() -> decided);

  @BeforeEach
  void listen() {
    log.setLevel(Level.INFO);
    lines.start();
    log.addAppender(lines);
  }

  @AfterEach
  void listenNoMore() {
    log.detachAppender(lines);
    log.setLevel(null);
  }

  private List<String> told() {
    return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Test
  void beginAndEndAreToldOnceHoweverManyCallsFail() {
    for (int i = 0; i < 100; i++) {
      absence.failed("not connected", i);
      decided++;
    }
    assertThat(absence.lasting()).isTrue();
    for (int i = 0; i < 100; i++) {
      absence.answered(100 + QUIET + i);
    }
    assertThat(absence.lasting()).isFalse();
    assertThat(told())
        .containsExactly(
            "deciding without the store: not connected",
            "the store answers again; 100 requests were decided without it");
  }

  @Test
  void anAnswerOfAnotherPartOfTheStoreDoesNotEndIt() {
    for (int i = 0; i < 100; i++) {
      absence.failed("not connected", i * QUIET / 2);
      absence.answered(i * QUIET / 2 + 1);
    }
    assertThat(absence.lasting()).isTrue();
    assertThat(told()).hasSize(1);
  }

  @Test
  void silenceAloneDoesNotEndIt() {
    absence.failed("not connected", 0);
    absence.look(10 * QUIET);
    assertThat(absence.lasting()).isTrue();
  }

  @Test
  void anAnswerEndsItInTimeThoughNobodyAsksAnyMore() {
    absence.failed("not connected", 0);
    absence.answered(1);
    absence.look(QUIET);
    assertThat(absence.lasting()).isFalse();
  }
}
