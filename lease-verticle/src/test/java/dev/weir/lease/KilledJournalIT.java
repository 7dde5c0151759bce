package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Clock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that counts is killed in the middle of it. */
class KilledJournalIT {

  private static final int KEYS = 7_000;

  @TempDir Path directory;

  /** Counts until it is killed, a unit of each key in turn, and tells how many rounds are done. */
  static final class Counting {
    public static void main(String[] args) {
      UsageJournal journal =
          UsageJournal.open(
              Path.of(args[0]),
              AccountingWindow.of(Duration.ofMinutes(1)),
              1L << 30,
              Clock.system());
      List<Tally> tallies = new ArrayList<>();
      for (int i = 0; i < KEYS; i++) {
        tallies.add(journal.open("key " + i, "gold", 0));
      }
      for (long round = 1; round <= 1_000_000; round++) {
        for (Tally tally : tallies) {
          tally.spend(1);
        }
        System.out.println(round);
      }
    }
  }

  @Test
  void noUnitThatWasCountedIsLostAndNoneIsMadeUp() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Counting.class.getName(),
                directory.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    long done = 0;
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      while (done < 50) {
        done = Long.parseLong(lines.readLine());
      }
      // Not of the process itself, which would close what it has written.
      process.toHandle().destroyForcibly();
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      String line = lines.readLine();
      while (line != null && !line.isEmpty()) {
        // The last line may have been cut off, which makes it less.
        done = Math.max(done, Long.parseLong(line));
        line = lines.readLine();
      }
    }

    UsageJournal next =
        UsageJournal.open(
            directory, AccountingWindow.of(Duration.ofMinutes(1)), 1L << 30, Clock.system());
    assertThat(next.adopted()).hasSize(1);
    List<Long> found = new ArrayList<>();
    next.adopted().get(0).entries().forEach(entry -> found.add(entry.counted().spent()));
    assertThat(found).hasSize(KEYS);
    // The round under way was half done.
    assertThat(found.get(KEYS - 1)).isBetween(done, found.get(0));
    assertThat(found).allMatch(units -> found.get(0) - units <= 1);
    next.close();
  }
}
