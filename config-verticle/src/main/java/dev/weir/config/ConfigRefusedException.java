package dev.weir.config;

import java.util.List;

/**
 * A configuration that was refused whole; nothing changed. It carries no stack trace: the fault is
 * the user's.
 */
public final class ConfigRefusedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final int code;
  private final transient List<String> errors;

  /**
   * @param code 400 malformed, 404 unknown, 409 in conflict with what is there
   * @param errors one line each, with the path and the reason; at least one
   */
  public ConfigRefusedException(int code, List<String> errors) {
    super(String.join("; ", errors), null, false, false);
    this.code = code;
    this.errors = List.copyOf(errors);
  }

  /** 400, 404 or 409, with the meaning that HTTP gives them. */
  public int code() {
    return code;
  }

  /** Every error found, each with its path and reason. */
  public List<String> errors() {
    return errors;
  }
}
