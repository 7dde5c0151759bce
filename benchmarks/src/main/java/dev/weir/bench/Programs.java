package dev.weir.bench;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Programs of this machine that are measured or measure, and may be missing. */
final class Programs {

  private Programs() {}

  /** Where a program is; daemons often are where only root looks. */
  static Optional<Path> find(String name) {
    String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
    return Stream.concat(Stream.of(path.split(File.pathSeparator)), Stream.of("/usr/sbin"))
        .filter(directory -> !directory.isEmpty())
        .map(directory -> Path.of(directory, name))
        .filter(Files::isExecutable)
        .findFirst();
  }
}
