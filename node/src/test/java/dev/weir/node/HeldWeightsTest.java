package dev.weir.node;

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

/** What holds weights up is said once. */
class HeldWeightsTest {

  private final HeldWeights held = new HeldWeights();
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @BeforeEach
  void listen() {
    log.start();
    logger().setLevel(Level.INFO);
    logger().addAppender(log);
  }

  @AfterEach
  void stopListening() {
    logger().detachAppender(log);
    logger().setLevel(null);
  }

  private static Logger logger() {
    return (Logger) LoggerFactory.getLogger(HeldWeights.class);
  }

  private List<String> lines() {
    return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  private void exchange(int times, List<String> unsettled) {
    for (int i = 0; i < times; i++) {
      held.exchanged("us", unsettled);
    }
  }

  @Test
  void nodesThatHoldWeightUpForLongAreNamedOnce() {
    exchange(HeldWeights.LONG - 1, List.of("10.0.0.1:5701"));
    exchange(1, List.of());
    exchange(HeldWeights.LONG - 1, List.of("10.0.0.1:5701"));
    assertThat(lines()).isEmpty();

    exchange(HeldWeights.LONG, List.of("10.0.0.1:5701", "1 missing"));
    assertThat(lines())
        .singleElement()
        .asString()
        .contains("no weight is given to region us", "10.0.0.1:5701, 1 missing");

    exchange(2, List.of());
    assertThat(lines()).hasSize(2).last().asString().contains("to region us again");
  }

  @Test
  void weightThatIsNotTakenIsToldOnceUntilSomeIs() {
    held.unwritten("us", "one");
    held.unwritten("us", "two");
    held.written("us");
    held.unwritten("us", "three");
    assertThat(lines())
        .containsExactly(
            "weight was not given to region us: one", "weight was not given to region us: three");
  }
}
