package dev.weir.node;

import java.util.List;

/**
 * A file that a setting names and that nothing can be made of. It carries no stack trace: the fault
 * is the user's, and the errors say all there is.
 */
final class FileRefusedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final int file;
  private final transient List<String> errors;

  /**
   * @param file which of those that are read together, from 0
   * @param errors to follow the file's name, one line each, without what is secret in it
   */
  FileRefusedException(int file, List<String> errors) {
    super(String.join("; ", errors), null, false, false);
    this.file = file;
    this.errors = List.copyOf(errors);
  }

  int file() {
    return file;
  }

  List<String> errors() {
    return errors;
  }
}
