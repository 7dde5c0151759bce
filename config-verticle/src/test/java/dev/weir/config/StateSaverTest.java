package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StateSaverTest {

  @TempDir Path scratch;

  private final ScheduledExecutorService executor = DaemonThread.scheduled("saver");
  private final AtomicReference<ConfigState> state =
      new AtomicReference<>(ConfigState.first(PlansFile.example(), "default", "me"));
  private final AtomicInteger asked = new AtomicInteger();
  private StateFile file;
  private StateSaver saver;

  @BeforeEach
  void open() {
    file = StateFile.open(scratch).orElseThrow();
    saver = new StateSaver(file, this::state, Clock.system(), executor);
  }

  private ConfigState state() {
    asked.incrementAndGet();
    return state.get();
  }

  @AfterEach
  void close() throws InterruptedException {
    end(executor);
    file.close();
  }

  @Test
  void whatHasChangedIsOnDiskInAMoment() {
    assertThat(saver.savedVersion()).isZero();
    saver.changed();
    await().until(() -> saver.savedVersion() == 1);
    state.set(SampleStates.rich());
    saver.changed();
    await().until(() -> saver.savedVersion() == 2);
    assertThat(file.read()).contains(SampleStates.rich());
  }

  @Test
  void whatIsNotWrittenYetIsWrittenWhenItCloses() throws Exception {
    saver.changed();
    state.set(SampleStates.rich());
    saver.changed();
    executor.submit(saver::close).get();
    assertThat(file.read()).contains(SampleStates.rich());

    state.set(SampleStates.large(1));
    saver.changed();
    executor.submit(() -> {}).get();
    assertThat(file.read()).contains(SampleStates.rich());
  }

  @Test
  void aWriteThatFailsIsTriedAgain() throws Exception {
    Path inTheWay = Files.createDirectory(scratch.resolve("state.new"));
    saver.changed();
    await().until(() -> asked.get() > 0);
    executor.submit(() -> {}).get();
    assertThat(saver.savedVersion()).isZero();
    Files.delete(inTheWay);
    await().until(() -> saver.savedVersion() == 1);
  }

  @Test
  void afterAWriteThatTookLongTheNextOneWaitsButAChangeThatComesLaterDoesNot() throws Exception {
    AtomicLong seconds = new AtomicLong();
    List<Long> delayMillis = new CopyOnWriteArrayList<>();
    ScheduledThreadPoolExecutor atOnce =
        new ScheduledThreadPoolExecutor(1) {
          @Override
          public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
            // What is submitted is scheduled as well.
            if (delay > 0) {
              delayMillis.add(unit.toMillis(delay));
            }
            return super.schedule(command, 0, unit);
          }
        };
    StateSaver slow = new StateSaver(file, this::state, ticking(seconds), atOnce);
    slow.changed();
    atOnce.submit(() -> {}).get();
    slow.changed();
    atOnce.submit(() -> {}).get();
    seconds.addAndGet(60);
    slow.changed();
    end(atOnce);
    assertThat(delayMillis).containsExactly(200L, 4_000L, 200L);
  }

  /** Waits for what is being written: the directory is removed after the test. */
  private static void end(ScheduledExecutorService executor) throws InterruptedException {
    executor.shutdown();
    assertThat(executor.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
  }

  /** Time that goes on by a second whenever somebody looks. */
  private static Clock ticking(AtomicLong seconds) {
    return new Clock() {
      @Override
      public long micros() {
        return TimeUnit.SECONDS.toMicros(seconds.incrementAndGet());
      }

      @Override
      public long epochMillis() {
        return 0;
      }
    };
  }
}
