package dev.weir.config;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The configuration that a node knew last, on disk, in a directory that it has to itself. A write
 * replaces the file whole: whatever happens meanwhile, the former or the new one is there. All of
 * it blocks; used by one thread at a time.
 */
final class StateFile implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(StateFile.class);

  private static final String STATE = "state";
  private static final String NEW = "state.new";
  private static final String DAMAGED = "state.damaged";

  private final Path directory;
  private final DirectoryLock lock;

  private StateFile(Path directory, DirectoryLock lock) {
    this.directory = directory;
    this.lock = lock;
  }

  /** Empty, and said in the log, if the directory cannot be had. */
  static Optional<StateFile> open(Path directory) {
    try {
      Files.createDirectories(directory);
      Optional<DirectoryLock> lock = DirectoryLock.tryLock(directory);
      if (lock.isEmpty()) {
        LOG.warn(
            "{} is another node's: this one keeps its configuration in memory alone;"
                + " give it a data_dir of its own",
            directory);
      }
      return lock.map(held -> new StateFile(directory, held));
    } catch (IOException e) {
      LOG.warn("{} cannot be written, configuration is in memory alone: {}", directory, reason(e));
      return Optional.empty();
    }
  }

  /**
   * What was written last; empty if nothing was. A file that cannot be read is set aside and said
   * in the log: the node goes on from what else it has.
   */
  Optional<ConfigState> read() {
    Path file = directory.resolve(STATE);
    try {
      return Optional.of(StateFormat.read(Files.readAllBytes(file)));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IllegalArgumentException e) {
      setAside(file, e.getMessage());
    } catch (IOException e) {
      setAside(file, "cannot be read: " + reason(e));
    }
    return Optional.empty();
  }

  private void setAside(Path file, String fault) {
    Path aside = directory.resolve(DAMAGED);
    try {
      Files.move(file, aside, StandardCopyOption.REPLACE_EXISTING);
      LOG.error("{} {}; it is set aside as {}", file, fault, aside.getFileName());
    } catch (IOException e) {
      LOG.error("{} {}; it cannot be set aside: {}", file, fault, reason(e));
    }
  }

  /** Is on disk when it returns. */
  void write(ConfigState state) throws IOException {
    Path next = directory.resolve(NEW);
    ByteBuffer bytes = ByteBuffer.wrap(StateFormat.write(state));
    try (FileChannel channel =
        FileChannel.open(
            next,
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(next, directory.resolve(STATE), StandardCopyOption.ATOMIC_MOVE);
    // The name is in the directory, which is written apart.
    try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
      names.force(true);
    }
  }

  @Override
  public void close() {
    try {
      lock.close();
    } catch (IOException e) {
      LOG.warn("cannot close the lock of {}: {}", directory, reason(e));
    }
  }

  private static String reason(IOException e) {
    return e.getClass().getSimpleName() + ": " + e.getMessage();
  }
}
