package dev.weir.node;

import java.nio.file.Files;
import java.nio.file.Path;

/** The source tree that is being tested. */
final class Repository {

  private Repository() {}

  /** The directory of the launcher script. */
  static Path root() {
    Path here = Path.of("").toAbsolutePath();
    for (Path p = here; p != null; p = p.getParent()) {
      if (Files.isExecutable(p.resolve("weir")) && Files.exists(p.resolve("cluster.xml"))) {
        return p;
      }
    }
    throw new IllegalStateException("no launcher script in or above " + here);
  }
}
