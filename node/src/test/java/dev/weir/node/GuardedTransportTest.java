package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.decision.ConnectionLimit;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelHandler;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.NetServerOptions;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** With connections, it is tested in {@code SlowClientsTest}. */
class GuardedTransportTest {

  private final GuardedTransport transport =
      new GuardedTransport(
          Settings.of(Map.of("http.port", "8090", "admin.port", "0")), new SimpleMeterRegistry());

  @Test
  void theServersOfBothPlanesAreLimited() {
    assertThat(handler(new HttpServerOptions().setHost("0.0.0.0").setPort(8090)))
        .isInstanceOf(ConnectionLimit.class);
    assertThat(handler(new HttpServerOptions().setHost("127.0.0.1").setPort(0)))
        .isInstanceOf(ConnectionLimit.class);
  }

  @Test
  void aServerOfTheEventBusIsNotThoughItIsToldTheSamePlace() {
    assertThat(handler(new NetServerOptions().setHost("127.0.0.1").setPort(0))).isNull();
  }

  private ChannelHandler handler(NetServerOptions options) {
    ServerBootstrap bootstrap = new ServerBootstrap();
    transport.configure(options, false, bootstrap);
    return bootstrap.config().handler();
  }
}
