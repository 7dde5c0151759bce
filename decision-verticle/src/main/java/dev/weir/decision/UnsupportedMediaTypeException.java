package dev.weir.decision;

/** A body that is not JSON by its own account (415); without a stack, the fault is the caller's. */
final class UnsupportedMediaTypeException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  UnsupportedMediaTypeException(String message) {
    super(message, null, false, false);
  }
}
