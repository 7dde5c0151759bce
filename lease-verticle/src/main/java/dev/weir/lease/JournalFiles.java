package dev.weir.lease;

import dev.weir.config.Clock;
import dev.weir.config.DirectoryLock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
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

  private static final String SEGMENT = ".usage";

  private final Path directory;
  private final DiskAllowance disk;
  private final Map<Path, DirectoryLock> locks = new ConcurrentHashMap<>();
  private final List<JournaledIncarnation> adopted = new ArrayList<>();
  private int damages;

  JournalFiles(Path directory, DiskAllowance disk) {
    this.directory = directory;
    this.disk = disk;
  }

  /** Why something cannot be done, for people to read. */
  static String reason(IOException e) {
    return e.getClass().getSimpleName() + ": " + e.getMessage();
  }

  /**
   * Takes over what dead processes left.
   *
   * @throws IOException if it cannot be looked for
   */
  void adopt() throws IOException {
    alone(
        () -> {
          for (Path left : list(directory)) {
            if (Files.isDirectory(left)) {
              adopt(left);
            }
          }
        });
  }

  /** Begins what this process will leave, now or when it can be written. */
  OwnIncarnation begin(Clock clock) {
    String name = UUID.randomUUID().toString();
    Path own = directory.resolve(name);
    return new OwnIncarnation(
        name, number -> make(own, number), () -> delete(own, Set.of()), clock);
  }

  private JournalSegment make(Path own, int number) throws IOException {
    if (!locks.containsKey(own)) {
      alone(() -> tryLock(Files.createDirectories(own)));
    }
    return JournalSegment.create(number, new SegmentFile(file(own, number), disk));
  }

  /** Something to be done with a directory. */
  private interface Errand {
    void run() throws IOException;
  }

  /** Runs lest another process takes over what this one has made and not yet locked. */
  private void alone(Errand errand) throws IOException {
    Files.createDirectories(directory);
    synchronized (JournalFiles.class) {
      try (FileChannel all =
          FileChannel.open(
              directory.resolve(DirectoryLock.FILE),
              StandardOpenOption.CREATE,
              StandardOpenOption.WRITE)) {
        // Until the channel is closed.
        all.lock();
        errand.run();
      }
    }
  }

  /** What dead processes left. */
  List<JournaledIncarnation> adopted() {
    return List.copyOf(adopted);
  }

  /** Places in it that could not be read. */
  int damages() {
    return damages;
  }

  void close() {
    for (DirectoryLock lock : locks.values()) {
      try {
        lock.close();
      } catch (IOException e) {
        LOG.warn("usage: cannot close a lock: {}", reason(e));
      }
    }
    locks.clear();
  }

  private static Path file(Path incarnation, int number) {
    return incarnation.resolve(String.format("%08d%s", number, SEGMENT));
  }

  private boolean tryLock(Path incarnation) throws IOException {
    Optional<DirectoryLock> lock = DirectoryLock.tryLock(incarnation);
    lock.ifPresent(held -> locks.put(incarnation, held));
    return lock.isPresent();
  }

  private void adopt(Path left) {
    try {
      if (tryLock(left)) {
        recover(left);
      }
    } catch (IOException e) {
      damaged(left, reason(e));
    }
  }

  private void recover(Path left) throws IOException {
    List<JournalSegment> segments = new ArrayList<>();
    Set<Path> unread = new HashSet<>();
    for (Path file : list(left)) {
      Optional<Integer> number = numberOf(file);
      if (number.isPresent()) {
        try {
          JournalSegment segment =
              JournalSegment.recover(
                  number.get(), new SegmentFile(file, disk), loss -> damaged(file, loss));
          if (segment.spent()) {
            // Or else processes that end while the store is away fill the disk with empty ones.
            segment.delete();
          } else {
            segments.add(segment);
          }
        } catch (IOException e) {
          unread.add(file);
          damaged(file, "it stays where it is: " + reason(e));
        }
      }
    }
    String name = left.getFileName().toString();
    adopted.add(new LeftIncarnation(name, segments, () -> delete(left, unread)));
  }

  private void damaged(Path file, String loss) {
    damages++;
    LOG.error("usage: cannot read all of {}: {}", file, loss);
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
  private static void delete(Path incarnation, Set<Path> unread) {
    try {
      for (Path file : list(incarnation)) {
        if (!file.endsWith(DirectoryLock.FILE) && !unread.contains(file)) {
          Files.delete(file);
        }
      }
      if (unread.isEmpty()) {
        Files.deleteIfExists(incarnation.resolve(DirectoryLock.FILE));
        Files.delete(incarnation);
      }
    } catch (NoSuchFileException e) {
      // Never made, since nothing could be written.
    } catch (IOException e) {
      LOG.warn("usage: cannot delete what is reported: {}", reason(e));
    }
  }
}
