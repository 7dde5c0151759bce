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
 * process that is killed. Nodes of one process exclude each other as well. Safe to use from any
 * thread.
 */
public final class DirectoryLock implements AutoCloseable {

  /** The file in the directory that is locked. It may be deleted by who holds the lock. */
  public static final String FILE = "lock";

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
  public static Optional<DirectoryLock> tryLock(Path directory) throws IOException {
    Path place = directory.toAbsolutePath().normalize();
    if (!HELD.add(place)) {
      return Optional.empty();
    }
    Optional<DirectoryLock> lock = Optional.empty();
    try {
      lock = lockFile(place);
    } finally {
      if (lock.isEmpty()) {
        HELD.remove(place);
      }
    }
    return lock;
  }

  private static Optional<DirectoryLock> lockFile(Path place) throws IOException {
    FileChannel channel =
        FileChannel.open(place.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    boolean locked = false;
    try {
      locked = channel.tryLock() != null;
    } finally {
      if (!locked) {
        channel.close();
      }
    }
    return locked ? Optional.of(new DirectoryLock(place, channel)) : Optional.empty();
  }

  /** Gives the directory away. */
  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } finally {
      HELD.remove(place);
    }
  }
}
