package dev.weir.decision;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * How many connections an endpoint has at once, on all event loops together, and how long a client
 * may take over a request. One too many is closed as it is accepted, before anything is made for
 * it.
 *
 * <p>To be a handler of the channel that accepts: Netty reads the accepted channels from it. Safe
 * to use from any thread.
 */
@Sharable
public final class ConnectionLimit extends ChannelInboundHandlerAdapter {

  private final int most;
  private final long timeoutNanos;
  private final AtomicInteger open = new AtomicInteger();
  private final LongAdder refused = new LongAdder();
  private final LongAdder cut = new LongAdder();

  /**
   * @param most connections at once
   * @param timeout from the headers of one request of a connection to those of the next
   */
  public ConnectionLimit(int most, Duration timeout) {
    this.most = most;
    this.timeoutNanos = timeout.toNanos();
  }

  /** Connections that there are. */
  public int open() {
    return open.get();
  }

  /** Connections that were closed since there were too many. */
  public long refused() {
    return refused.sum();
  }

  /** Connections that were cut since their clients took too long. */
  public long cut() {
    return cut.sum();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object accepted) {
    Channel connection = (Channel) accepted;
    if (open.incrementAndGet() > most) {
      open.decrementAndGet();
      refused.increment();
      // It belongs to no event loop yet, which an orderly close takes.
      connection.unsafe().closeForcibly();
      return;
    }
    var unused = connection.closeFuture().addListener(closed -> open.decrementAndGet());
    connection.pipeline().addLast(new ClientPace(timeoutNanos, cut::increment));
    context.fireChannelRead(connection);
  }
}
