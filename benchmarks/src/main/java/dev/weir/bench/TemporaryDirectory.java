package dev.weir.bench;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A directory that goes with all that is in it. */
record TemporaryDirectory(Path path) implements AutoCloseable {

  static TemporaryDirectory make() {
    try {
      return new TemporaryDirectory(Files.createTempDirectory("weir-bench"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes a file, and says where it is. */
  Path write(String name, String text) {
    try {
      return Files.writeString(path.resolve(name), text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try (Stream<Path> files = Files.walk(path)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
