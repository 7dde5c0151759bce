package dev.weir.config;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A directory that one node has to itself for as long as it lives: the system takes the lock of a
 * process that is killed. Nodes of one process exclude each other as well.
 */
final class DirectoryLock implements AutoCloseable {

  private static final String FILE = "lock";

  /** Closing any channel to a file that this process has locked would end the lock. */
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private final Path place;
  private final FileChannel channel;

  private DirectoryLock(Path place, FileChannel channel) {
    this.place = place;
    this.channel = channel;
  }

  /**
   * Locks {@code directory}, which there must be; empty if another node has it.
   *
   * @throws IOException if nothing can be written there
   */
  static Optional<DirectoryLock> tryLock(Path directory) throws IOException {
    Path place = directory.toAbsolutePath().normalize();
    if (!HELD.add(place)) {
      return Optional.empty();
    }
    boolean locked = false;
    try {
      FileChannel channel =
          FileChannel.open(
              directory.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      locked = channel.tryLock() != null;
      if (locked) {
        return Optional.of(new DirectoryLock(place, channel));
      }
      channel.close();
      return Optional.empty();
    } finally {
      if (!locked) {
        HELD.remove(place);
      }
    }
  }

  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } finally {
      HELD.remove(place);
    }
  }
}
