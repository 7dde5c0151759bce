package dev.weir.node;

/** What the process says when it ends. */
final class ExitCode {

  static final int OK = 0;

  /** Something failed that the user could not have known. */
  static final int FAILED = 1;

  /** The command line, a setting or a file is wrong. */
  static final int REFUSED = 2;

  private ExitCode() {}
}
