package dev.weir.lease;

/** The store did not answer. It carries no stack trace: the fault is in no code of ours. */
public final class StoreAwayException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final boolean unsent;

  /**
   * @param reason in one line
   * @param unsent whether it is certain that the store was not even asked
   */
  public StoreAwayException(String reason, boolean unsent) {
    super(reason, null, false, false);
    this.unsent = unsent;
  }

  /** Whether it is certain that the store was not even asked, so that nothing has changed. */
  public boolean unsent() {
    return unsent;
  }
}
