package dev.weir.lease;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A mapped file, and the room that it takes of what the journal may. Owned by one thread. */
final class SegmentFile {

  private static final Logger LOG = LoggerFactory.getLogger(SegmentFile.class);

  private final Path path;
  private final DiskAllowance disk;
  private long size;

  SegmentFile(Path path, DiskAllowance disk) {
    this.path = path;
    this.disk = disk;
  }

  /**
   * Makes the file and maps it. All its blocks are written, since a mapped page for which there is
   * no room would end the process.
   *
   * @throws IOException if there is no room
   */
  ByteBuffer create(ByteBuffer content) throws IOException {
    int length = content.remaining();
    if (!disk.take(length)) {
      throw new IOException("all " + disk.mostBytes() + " bytes of usage.max_disk are taken");
    }
    Path unfinished = path.resolveSibling(path.getFileName() + ".new");
    try (FileChannel channel =
        FileChannel.open(
            unfinished,
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      while (content.hasRemaining()) {
        channel.write(content);
      }
      ByteBuffer mapped = channel.map(MapMode.READ_WRITE, 0, length);
      // Whoever finds it finds all of it.
      Files.move(unfinished, path, StandardCopyOption.ATOMIC_MOVE);
      size = length;
      return mapped;
    } catch (IOException e) {
      disk.free(length);
      Files.deleteIfExists(unfinished);
      throw e;
    }
  }

  /**
   * Maps what another process has left.
   *
   * @throws IOException if it cannot be read
   */
  ByteBuffer open() throws IOException {
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      long length = channel.size();
      if (length > Integer.MAX_VALUE) {
        throw new IOException("longer than a segment");
      }
      ByteBuffer mapped = channel.map(MapMode.READ_WRITE, 0, length);
      size = length;
      disk.find(size);
      return mapped;
    }
  }

  /**
   * Deletes it and gives its room back at once. Nobody may be at it any more: whoever touches a
   * page that a mapped file has lost is sent SIGBUS.
   */
  void delete() {
    delete(
        () -> {
          try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            Files.delete(path);
            channel.truncate(0);
          }
        });
  }

  /**
   * Deletes it, whoever may be at it: the system keeps its room until the garbage collector has
   * found the mapping.
   */
  void unlink() {
    delete(() -> Files.delete(path));
  }

  private void delete(Deletion deletion) {
    try {
      deletion.run();
    } catch (NoSuchFileException e) {
      LOG.warn("usage: {} is gone already", path);
    } catch (IOException e) {
      LOG.warn("usage: cannot delete what is reported: {}", JournalFiles.reason(e));
      return;
    }
    disk.free(size);
  }

  private interface Deletion {
    void run() throws IOException;
  }
}
