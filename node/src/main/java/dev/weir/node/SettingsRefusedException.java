package dev.weir.node;

import java.util.List;

/**
 * Settings that a node cannot start with. It carries no stack trace: the fault is the user's, and
 * the errors say all there is.
 */
public final class SettingsRefusedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final transient List<String> errors;

  SettingsRefusedException(List<String> errors) {
    super(String.join("; ", errors), null, false, false);
    this.errors = List.copyOf(errors);
  }

  /** Every error found, one line each: the setting's path, the reason, and where it was given. */
  public List<String> errors() {
    return errors;
  }
}
