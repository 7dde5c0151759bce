package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** In virtual time; with requests, it is tested in {@code SlowClientsTest} of the node. */
class ClientPaceTest {

  private final AtomicInteger cut = new AtomicInteger();
  private final EmbeddedChannel channel =
      new EmbeddedChannel(new ClientPace(TimeUnit.SECONDS.toNanos(60), cut::incrementAndGet));

  @Test
  void whoSendsNothingIsCutWhenTheTimeIsOver() {
    pass(59);
    assertThat(channel.isOpen()).isTrue();
    pass(1);
    assertThat(channel.isOpen()).isFalse();
    assertThat(cut).hasValue(1);
  }

  @Test
  void bytesThatMakeNoRequestGainNoTime() {
    for (int second = 0; second < 60; second++) {
      assertThat(channel.isOpen()).isTrue();
      channel.writeInbound(Unpooled.wrappedBuffer(new byte[] {'x'}));
      pass(1);
    }
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void whoHasGoneIsNotCut() {
    pass(30);
    var unused = channel.close();
    pass(60);
    assertThat(cut).hasValue(0);
  }

  @Test
  void whoDoesNotTakeTheGoodbyeIsLeftAQuarterLater() {
    channel
        .pipeline()
        .addLast(
            new ChannelOutboundHandlerAdapter() {
              @Override
              public void close(ChannelHandlerContext context, ChannelPromise closed) {
                // As long as the client reads nothing.
              }
            });
    pass(60);
    assertThat(cut).hasValue(1);
    assertThat(channel.isOpen()).isTrue();
    pass(15);
    assertThat(channel.isOpen()).isFalse();
    assertThat(cut).hasValue(1);
  }

  @Test
  void whoHasGoneBeforeItsTimeBeganIsNoFault() {
    EmbeddedChannel gone = new EmbeddedChannel();
    gone.pipeline().addLast(new ClientPace(TimeUnit.SECONDS.toNanos(60), cut::incrementAndGet));
    var unused = gone.close();
    gone.checkException();
  }

  private void pass(int seconds) {
    for (int second = 0; second < seconds; second++) {
      channel.advanceTimeBy(1, TimeUnit.SECONDS);
      channel.runScheduledPendingTasks();
    }
  }
}
