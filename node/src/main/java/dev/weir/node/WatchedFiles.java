package dev.weir.node;

import io.vertx.core.Future;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is made of a few small files, and made anew when they have changed. Files that nothing can
 * be made of leave what there was in force, which is logged once, until they change again.
 *
 * <p>They are compared by what is in them, not by their times: two changes within a tick of the
 * file system's clock look alike, and Kubernetes swaps directories under a symbolic link.
 *
 * <p>The value may be read from any thread; {@link #look} is for one thread at a time that may wait
 * for the disk.
 *
 * @param <T> what is made of them, immutable
 */
final class WatchedFiles<T> {

  private static final Logger LOG = LoggerFactory.getLogger(WatchedFiles.class);

  private static final int MAX_BYTES = 1 << 20;

  /**
   * One of the files.
   *
   * @param setting that names it, for errors
   */
  record Source(String setting, Path file) {
    @Override
    public String toString() {
      return setting + ": " + Quoted.printable(file.toString());
    }
  }

  private final List<Source> sources;
  private final Function<List<byte[]>, T> maker;
  private List<byte[]> seen;
  private List<String> told = List.of();
  private volatile T current;

  private WatchedFiles(List<Source> sources, Function<List<byte[]>, T> maker) {
    this.sources = List.copyOf(sources);
    this.maker = maker;
  }

  /**
   * Reads the files for the first time.
   *
   * @param maker makes the value of what is in them, in their order; throws {@link
   *     FileRefusedException} if it cannot
   * @throws SettingsRefusedException if a file cannot be read, or nothing be made of them
   */
  static <T> WatchedFiles<T> read(List<Source> sources, Function<List<byte[]>, T> maker) {
    WatchedFiles<T> watched = new WatchedFiles<>(sources, maker);
    try {
      watched.seen = watched.contents();
      watched.current = maker.apply(watched.seen);
    } catch (FileRefusedException e) {
      throw new SettingsRefusedException(watched.lines(e));
    }
    return watched;
  }

  /** As of the last files that something could be made of. */
  T current() {
    return current;
  }

  /**
   * Reads the files again, and hands what is made of them to {@code taken} if they have changed. It
   * is in force once that has succeeded.
   */
  void look(Function<T, Future<?>> taken) {
    try {
      List<byte[]> now = contents();
      if (same(now, seen)) {
        told = List.of();
        return;
      }
      T made = maker.apply(now);
      seen = now;
      told = List.of();
      taken
          .apply(made)
          .onSuccess(done -> enforce(made))
          .onFailure(e -> LOG.error("{}: what was read before stays in force", sources.get(0), e));
    } catch (FileRefusedException e) {
      List<String> lines = lines(e);
      if (!lines.equals(told)) {
        told = lines;
        LOG.warn("{}; what was read before stays in force", String.join("; ", lines));
      }
    }
  }

  private void enforce(T made) {
    current = made;
    LOG.info("{}: is in force as it is now", sources.get(0));
  }

  private List<String> lines(FileRefusedException refused) {
    return refused.errors().stream()
        .map(error -> sources.get(refused.file()) + ": " + error)
        .toList();
  }

  private List<byte[]> contents() {
    List<byte[]> contents = new ArrayList<>();
    for (int i = 0; i < sources.size(); i++) {
      contents.add(content(i));
    }
    return contents;
  }

  private byte[] content(int file) {
    try (InputStream in = Files.newInputStream(sources.get(file).file())) {
      byte[] content = in.readNBytes(MAX_BYTES + 1);
      if (content.length <= MAX_BYTES) {
        return content;
      }
      throw new FileRefusedException(file, List.of("is larger than 1 MiB"));
    } catch (NoSuchFileException e) {
      throw new FileRefusedException(file, List.of("no such file"));
    } catch (IOException e) {
      throw new FileRefusedException(file, List.of("cannot be read"));
    }
  }

  private static boolean same(List<byte[]> some, List<byte[]> others) {
    for (int i = 0; i < some.size(); i++) {
      if (!Arrays.equals(some.get(i), others.get(i))) {
        return false;
      }
    }
    return true;
  }
}
