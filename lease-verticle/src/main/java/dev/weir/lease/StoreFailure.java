package dev.weir.lease;

import io.vertx.redis.client.impl.types.ErrorType;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a failed call to Redis means. The only place that reads error messages.
 *
 * @param reason in one line
 * @param kind what to do about it
 * @param unsent whether it is certain that the call changed nothing
 */
record StoreFailure(String reason, Kind kind, boolean unsent) {

  enum Kind {
    /** The script is not loaded: send it along. */
    SCRIPT_MISSING,
    /** The connection is gone, or leads to a server that cannot serve: connect anew. */
    CONNECTION_LOST,
    /** The server is one of a cluster, and another has the key. */
    ELSEWHERE,
    /** The server does not let us in, and will not before someone changes something. */
    ACCESS_REFUSED,
    /** This call alone failed. */
    CALL_FAILED
  }

  /** What the client says, without having written anything, of a connection that it knows dead. */
  static final String NEVER_WRITTEN = "Connection is closed";

  private static final int MOST_CAUSES = 8;

  private static final String ARGUMENTS = ", with args beginning with";

  private static final String WAITING_FULL = "Redis waiting queue is full";

  /**
   * An error of Redis begins with its code. Before Redis 7, an error inside a script is wrapped:
   * {@code ERR Error running script (call to f_...): @user_script:90: -READONLY You can't ...}.
   */
  private static final Pattern CODE =
      Pattern.compile("^(?:ERR Error running script.*?: -)?([A-Z_]+)\\b", Pattern.DOTALL);

  static StoreFailure of(Throwable cause) {
    String message = Optional.ofNullable(cause.getMessage()).orElse(cause.getClass().getName());
    String reason = withoutArguments(message.lines().findFirst().orElse(""));
    if (cause instanceof ErrorType) {
      return ofCode(code(message), reason);
    }
    if (message.equals(WAITING_FULL)) {
      return new StoreFailure(reason, Kind.CALL_FAILED, true);
    }
    return new StoreFailure(
        withRoot(reason, cause), Kind.CONNECTION_LOST, message.equals(NEVER_WRITTEN));
  }

  /** Redis shows those of a command that it does not know, and names of ours have keys in them. */
  private static String withoutArguments(String line) {
    int arguments = line.indexOf(ARGUMENTS);
    return arguments < 0 ? line : line.substring(0, arguments);
  }

  /** What is wrong with a certificate stands in none but the innermost cause. */
  private static String withRoot(String reason, Throwable cause) {
    Throwable root = cause;
    // Causes may go in circles.
    for (int depth = 0; root.getCause() != null && depth < MOST_CAUSES; depth++) {
      root = root.getCause();
    }
    String told =
        Optional.ofNullable(root.getMessage()).flatMap(m -> m.lines().findFirst()).orElse("");
    return reason.contains(told) ? reason : reason + ": " + told;
  }

  private static StoreFailure ofCode(String code, String reason) {
    return switch (code) {
      case "NOSCRIPT" -> new StoreFailure(reason, Kind.SCRIPT_MISSING, true);
      // A replica, or a server that is loading or has lost its master, refuses the first write of a
      // script and thereby all of them.
      case "READONLY", "LOADING", "MASTERDOWN" ->
          new StoreFailure(reason, Kind.CONNECTION_LOST, true);
      case "NOAUTH", "WRONGPASS", "NOPERM" -> new StoreFailure(reason, Kind.ACCESS_REFUSED, true);
      // Refused before anything ran, or at the first write, and no write can pass.
      case "BUSY", "MISCONF", "NOREPLICAS", "TRYAGAIN" ->
          new StoreFailure(reason, Kind.CALL_FAILED, true);
      case "MOVED", "ASK", "CLUSTERDOWN" -> new StoreFailure(reason, Kind.ELSEWHERE, true);
      // The client library's name for a connection that ended under calls in flight.
      case "CONNECTION_CLOSED" ->
          new StoreFailure("connection closed", Kind.CONNECTION_LOST, false);
      default -> new StoreFailure(reason, Kind.CALL_FAILED, false);
    };
  }

  private static String code(String message) {
    if (message.startsWith("ERR AUTH ") || message.startsWith("ERR invalid password")) {
      return "WRONGPASS";
    }
    Matcher code = CODE.matcher(message);
    return code.find() ? code.group(1) : "";
  }
}
