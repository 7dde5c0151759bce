package dev.weir.node;

/**
 * A call of the control plane that was wrong, and changed nothing, or that cannot be carried out
 * now. It carries no stack trace: the fault is in no code of ours.
 */
final class RefusedCallException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final int status;

  RefusedCallException(int status, String error) {
    super(error, null, false, false);
    this.status = status;
  }

  /** Of HTTP. */
  int status() {
    return status;
  }
}
