package dev.weir.node;

/**
 * A text that must not be seen in logs, errors or answers: its string form is a placeholder.
 *
 * @param text the secret itself
 */
public record Secret(String text) {

  @Override
  public String toString() {
    return "(hidden)";
  }
}
