package dev.weir.lease;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The time of day as processes see it that are started in its environment: the true one, shifted.
 * Other clocks, which never jump, go on as they are. By libfaketime, where it is installed.
 */
public final class FakeTime implements AutoCloseable {
  private final Path directory;
  private final Path file;

  private FakeTime(Path directory) {
    this.directory = directory;
    this.file = directory.resolve("shift");
  }

  /** Whether time can be faked here. */
  public static boolean isInstalled() {
    return library().isPresent();
  }

  private static Optional<Path> library() {
    String architecture = System.getProperty("os.arch").equals("aarch64") ? "aarch64" : "x86_64";
    return Stream.of("/usr/lib/" + architecture + "-linux-gnu", "/usr/lib64", "/usr/lib")
        .map(directory -> Path.of(directory, "faketime", "libfaketimeMT.so.1"))
        .filter(Files::isReadable)
        .findFirst();
  }

  /** The true time, until it is shifted. */
  public static FakeTime create() {
    try {
      FakeTime time = new FakeTime(Files.createTempDirectory("weir-time"));
      time.shiftTo(Duration.ZERO);
      return time;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Has processes that run, and those to come, be so far from the true time, at once. */
  public void shiftTo(Duration shift) {
    try {
      // Renamed, since whoever reads half of it sees the true time.
      Path next = directory.resolve("next");
      Files.writeString(next, "%+d\n".formatted(shift.toSeconds()));
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What makes a process see this time, whatever it is going to be. */
  public Map<String, String> environment() {
    return environment("FAKETIME_TIMESTAMP_FILE", file.toString(), "FAKETIME_NO_CACHE", "1");
  }

  /** What makes a process be so far from the true time, at less expense. */
  public static Map<String, String> environment(Duration shift) {
    return environment("FAKETIME", "%+d".formatted(shift.toSeconds()));
  }

  private static Map<String, String> environment(String... settings) {
    Map<String, String> environment = new HashMap<>();
    // The C library comes before jemalloc, which asks for the time before it can be told.
    environment.put("LD_PRELOAD", library().orElseThrow() + " libc.so.6");
    environment.put("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    // Else waits of a JVM take far longer than they should.
    environment.put("FAKETIME_FORCE_MONOTONIC_FIX", "0");
    for (int i = 0; i < settings.length; i += 2) {
      environment.put(settings[i], settings[i + 1]);
    }
    return environment;
  }

  @Override
  public void close() {
    try {
      Files.deleteIfExists(file);
      Files.deleteIfExists(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
