package dev.weir.decision;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.function.Consumer;

/** Collects the body of one request, up to a size. */
final class RequestBody {

  /** Largest body, in bytes. */
  static final int MAX_BYTES = 1 << 20;

  /**
   * How long a client may go on sending a body that was refused already. Closing at once would
   * reset the connection, and the client would lose the answer that says why.
   */
  private static final long LINGER_MILLIS = 2_000;

  private final HttpServerRequest request;
  private final BodyRoom room;
  private Buffer body = Buffer.buffer(0);

  private RequestBody(HttpServerRequest request, BodyRoom room) {
    this.request = request;
    this.room = room;
  }

  /**
   * Hands the whole body to {@code whole}, or calls {@code tooLarge} as soon as it is known to be
   * more than {@link #MAX_BYTES}, or {@code noRoom} as soon as it is more than {@code room} has
   * left. None is called if the client goes away first, or takes so long that {@code room} has its
   * body given up.
   */
  static void read(
      HttpServerRequest request,
      BodyRoom room,
      Consumer<byte[]> whole,
      Runnable tooLarge,
      Runnable noRoom) {
    RequestBody reading = new RequestBody(request, room);
    if (isAnnouncedTooLarge(request)) {
      reading.refuse(tooLarge);
      return;
    }
    request.handler(chunk -> reading.take(chunk, tooLarge, noRoom));
    request.exceptionHandler(gone -> reading.drop());
    request.endHandler(end -> whole.accept(reading.drop().getBytes()));
    // Only now: a client that is told to go on may do so at once.
    if ("100-continue".equalsIgnoreCase(request.getHeader(HttpHeaders.EXPECT))) {
      request.response().writeContinue();
    }
  }

  /** Lets the body go by, for a while: the answer comes without it. */
  static void ignore(HttpServerRequest request) {
    String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    boolean none =
        (length == null || length.equals("0"))
            && request.getHeader(HttpHeaders.TRANSFER_ENCODING) == null
            && request.version() != HttpVersion.HTTP_2;
    if (!none) {
      new RequestBody(request, new BodyRoom(0)).refuse(() -> {});
    }
  }

  private static boolean isAnnouncedTooLarge(HttpServerRequest request) {
    String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    if (length == null || length.length() < 7) {
      return false;
    }
    try {
      return Long.parseLong(length) > MAX_BYTES;
    } catch (NumberFormatException beyondLong) {
      return true;
    }
  }

  private void take(Buffer chunk, Runnable tooLarge, Runnable noRoom) {
    if ((long) body.length() + chunk.length() > MAX_BYTES) {
      refuse(tooLarge);
    } else if (!room.take(this, chunk.length())) {
      refuse(noRoom);
    } else if (body.length() == 0) {
      body = chunk;
    } else {
      body = body.appendBuffer(chunk);
    }
  }

  /** What has come so far, which takes no more room. */
  private Buffer drop() {
    Buffer dropped = body;
    body = Buffer.buffer(0);
    room.leave(this, dropped.length());
    return dropped;
  }

  private void refuse(Runnable answer) {
    drop();
    Vertx vertx = Vertx.currentContext().owner();
    long timer = vertx.setTimer(LINGER_MILLIS, late -> hangUp());
    request.handler(ignored -> {});
    request.endHandler(end -> vertx.cancelTimer(timer));
    answer.run();
  }

  /** Its time is over: what has come is dropped, and nobody waits for the rest. */
  void giveUp() {
    drop();
    request.handler(ignored -> {});
    request.endHandler(ignored -> {});
    hangUp();
  }

  private void hangUp() {
    if (request.version() == HttpVersion.HTTP_2) {
      // Other requests share the connection.
      request.response().reset();
    } else {
      request.connection().close();
    }
  }
}
