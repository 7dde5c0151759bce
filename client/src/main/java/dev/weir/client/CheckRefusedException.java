package dev.weir.client;

/**
 * A request that got no decision because it was wrong; it spent nothing. The message is one line:
 * the member that is at fault, a colon, and what is wrong with it. It carries no stack trace: the
 * fault is the caller's, and a caller may make it often.
 */
public final class CheckRefusedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final int code;

  private CheckRefusedException(int code, String message) {
    super(message, null, false, false);
    this.code = code;
  }

  /** The request itself is malformed (400). */
  public static CheckRefusedException badRequest(String message) {
    return new CheckRefusedException(400, message);
  }

  /** The key has no plan, and there is no default plan (403). */
  public static CheckRefusedException unknownKey(String message) {
    return new CheckRefusedException(403, message);
  }

  /** The request names a plan that does not exist (404). */
  public static CheckRefusedException unknownPlan(String message) {
    return new CheckRefusedException(404, message);
  }

  /** The id of the request was used with another request (422). */
  public static CheckRefusedException reusedId() {
    return new CheckRefusedException(422, "id: Idempotency-Key was used with another request");
  }

  /** The refusal that an event-bus failure of this code and message stands for. */
  static CheckRefusedException ofReply(int code, String message) {
    return new CheckRefusedException(code, message);
  }

  static boolean isCode(int code) {
    return code == 400 || code == 403 || code == 404 || code == 422;
  }

  /** The same refusal of a request that is itself a part of something, found at {@code path}. */
  public CheckRefusedException within(String path) {
    return new CheckRefusedException(code, path + "." + getMessage());
  }

  /** 400, 403, 404 or 422, with the meaning that HTTP gives them. */
  public int code() {
    return code;
  }
}
