package dev.weir.bench;

/** Something cannot be measured on this machine. The message says why. */
final class LeftOutException extends RuntimeException {

  private static final long serialVersionUID = 1;

  LeftOutException(String message) {
    super(message);
  }
}
