package dev.weir.config;

import java.util.Optional;

/**
 * Between listeners of the cluster and the reader, which comes later than they do: there must be
 * something to read first. Safe to use from any thread.
 */
final class ChangeSignal {

  private volatile Optional<SharedReader> reader = Optional.empty();

  void document() {
    reader.ifPresent(SharedReader::documentChanged);
  }

  void keys() {
    reader.ifPresent(SharedReader::keysChanged);
  }

  /** Tells {@code newReader} from now on, and of what it may have missed. */
  void startTelling(SharedReader newReader) {
    reader = Optional.of(newReader);
    newReader.documentChanged();
  }
}
