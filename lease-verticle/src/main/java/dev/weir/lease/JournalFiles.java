package dev.weir.lease;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory of the journals of all processes of a machine: a directory for each, named as its
 * incarnation and locked for as long as it lives. The system takes the lock of a process that is
 * killed, and so the next one knows that it may have what was left.
 */
final class JournalFiles {

  private static final Logger LOG = LoggerFactory.getLogger(JournalFiles.class);

  private static final String LOCK = "lock";
  private static final String SEGMENT = ".usage";

  /** Directories that nodes in this process have locked. */
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private final Path directory;
  private final Map<Path, FileChannel> locks = new HashMap<>();
  private final List<JournaledIncarnation> adopted = new ArrayList<>();

  JournalFiles(Path directory) {
    this.directory = directory;
  }

  /** A name that no process has had. */
  static String newName() {
    return UUID.randomUUID().toString();
  }

  /** Why something cannot be done, for people to read. */
  static String reason(IOException e) {
    return e.getClass().getSimpleName() + ": " + e.getMessage();
  }

  /**
   * Takes over what dead processes left, and begins what this one will leave.
   *
   * @throws IOException if nothing can be written here
   */
  OwnIncarnation begin() throws IOException {
    Files.createDirectories(directory);
    String name = newName();
    // Lest another process takes over what this one has made and not yet locked.
    synchronized (JournalFiles.class) {
      try (FileChannel all = lockFile(directory.resolve(LOCK))) {
        // Until the channel is closed.
        all.lock();
        adopt();
        tryLock(Files.createDirectory(directory.resolve(name)));
      }
    }
    Path own = directory.resolve(name);
    return new OwnIncarnation(
        name, number -> JournalSegment.create(number, file(own, number)), () -> delete(own));
  }

  /** What dead processes left. */
  List<JournaledIncarnation> adopted() {
    return List.copyOf(adopted);
  }

  void close() {
    locks.forEach(
        (place, lock) -> {
          try {
            lock.close();
          } catch (IOException e) {
            LOG.warn("usage: cannot close a lock: {}", reason(e));
          }
          HELD.remove(place);
        });
    locks.clear();
  }

  private static FileChannel lockFile(Path file) throws IOException {
    return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
  }

  private static Path file(Path incarnation, int number) {
    return incarnation.resolve(String.format("%08d%s", number, SEGMENT));
  }

  private boolean tryLock(Path incarnation) throws IOException {
    Path place = incarnation.toAbsolutePath().normalize();
    // Closing any channel to a file that this process has locked would end the lock.
    if (!HELD.add(place)) {
      return false;
    }
    boolean locked = false;
    try {
      FileChannel channel = lockFile(incarnation.resolve(LOCK));
      locked = channel.tryLock() != null;
      if (locked) {
        locks.put(place, channel);
      } else {
        channel.close();
      }
      return locked;
    } finally {
      if (!locked) {
        HELD.remove(place);
      }
    }
  }

  private void adopt() throws IOException {
    for (Path left : list(directory)) {
      try {
        if (Files.isDirectory(left) && tryLock(left)) {
          recover(left);
        }
      } catch (IOException e) {
        LOG.error("usage: cannot read what a process left in {}: {}", left, reason(e));
      }
    }
  }

  private void recover(Path left) throws IOException {
    List<JournalSegment> segments = new ArrayList<>();
    for (Path file : list(left)) {
      Optional<Integer> number = numberOf(file);
      if (number.isPresent()) {
        try {
          segments.add(
              JournalSegment.recover(
                  number.get(), file, loss -> LOG.error("usage: {}: {}", file, loss)));
        } catch (IOException e) {
          LOG.error("usage: cannot read {}: {}", file, reason(e));
        }
      }
    }
    adopted.add(new LeftIncarnation(left.getFileName().toString(), segments, () -> delete(left)));
  }

  private static Optional<Integer> numberOf(Path file) {
    String name = file.getFileName().toString();
    if (!name.endsWith(SEGMENT)) {
      return Optional.empty();
    }
    try {
      return Optional.of(Integer.parseInt(name.substring(0, name.length() - SEGMENT.length())));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  private static List<Path> list(Path directory) throws IOException {
    try (Stream<Path> paths = Files.list(directory)) {
      return paths.sorted().toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** The lock goes last: until then nobody takes what is left for a dead process's. */
  private static void delete(Path incarnation) throws IOException {
    for (Path file : list(incarnation)) {
      if (!file.endsWith(LOCK)) {
        Files.delete(file);
      }
    }
    Files.deleteIfExists(incarnation.resolve(LOCK));
    Files.delete(incarnation);
  }
}
