package dev.weir.decision;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.impl.ConnectionBase;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Cuts a connection whose client does not get on: from one request to the next, whole with its
 * headers, it has some time, in which it must also have sent the body of the one before and read
 * its answer. The node's own time for an answer does not count.
 *
 * <p>An idle timeout does not do that, since a byte every few seconds keeps it away. As there, time
 * is looked at a few times in its course, so that a request costs no timer; a connection is cut a
 * quarter later at most. It ends in order, with what TLS and HTTP/2 have to say then. A client who
 * does not take that either, since it reads nothing, is left at the next look.
 *
 * <p>Stands in front of all that a server does with a connection, so that it has its time for TLS
 * as well, and for telling which HTTP it speaks. Owned by the connection's event loop.
 */
final class ClientPace extends ChannelInboundHandlerAdapter {

  private static final int LOOKS = 4;

  private final long lookNanos;
  private final Runnable onCut;
  private HttpServerRequest last;
  private HttpServerRequest lastSeen;
  private int looksInVain;
  private boolean cut;
  private Future<?> nextLook;

  /**
   * @param onCut is run when the connection is cut
   */
  ClientPace(long timeoutNanos, Runnable onCut) {
    this.lookNanos = timeoutNanos / LOOKS;
    this.onCut = onCut;
  }

  /** Tells that the headers of {@code request} are there. */
  static void begins(HttpServerRequest request) {
    ClientPace pace =
        ((ConnectionBase) request.connection()).channel().pipeline().get(ClientPace.class);
    // An application's own Vert.x takes connections as it likes.
    if (pace != null) {
      pace.last = request;
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    lookLater(context);
    context.fireChannelActive();
  }

  private void lookLater(ChannelHandlerContext context) {
    nextLook = context.executor().schedule(() -> look(context), lookNanos, TimeUnit.NANOSECONDS);
  }

  /** Lest all that was made for it stays until the next look. */
  @Override
  public void channelInactive(ChannelHandlerContext context) {
    // There is none if it was never active.
    if (nextLook != null) {
      nextLook.cancel(false);
    }
    context.fireChannelInactive();
  }

  private void look(ChannelHandlerContext context) {
    if (cut) {
      // Past TLS and HTTP, which would first have all read that they have written.
      var unused = context.close();
      return;
    }
    lookLater(context);
    if (last != lastSeen || waitsForUs()) {
      lastSeen = last;
      looksInVain = 0;
    } else if (++looksInVain == LOOKS) {
      cut = true;
      onCut.run();
      var unused = context.pipeline().close();
    }
  }

  /** Whether the client has done its part, so that the next is ours. */
  private boolean waitsForUs() {
    // A stream that its client has reset counts as ended, and its response never does.
    return last != null && last.isEnded() && !last.response().ended() && !last.response().closed();
  }
}
