package dev.weir.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class CheckCodecsTest {

  @Provide
  Arbitrary<Decision> decisions() {
    return Decisions.any();
  }

  @Property
  void aDecisionArrivesAsItWasSent(@ForAll("decisions") Decision decision) {
    DecisionCodec<Decision> codec = new DecisionCodec<>("any");
    Buffer wire = Buffer.buffer("before");
    int position = wire.length();
    codec.encodeToWire(wire, decision);

    assertThat(codec.decodeFromWire(position, wire.appendString("after"))).isEqualTo(decision);
  }

  @Test
  void aCheckArrivesAsItWasSent() {
    CheckRequestCodec codec = new CheckRequestCodec();
    CheckRequest request = new CheckRequest("acme", "search", 3, "gold", "7f");
    Buffer wire = Buffer.buffer();
    codec.encodeToWire(wire, request);

    assertThat(codec.decodeFromWire(0, wire)).isEqualTo(request);
  }

  @Test
  void registrationMayBeRepeatedFromAnyThread() throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      CompletableFuture<?>[] registrations =
          IntStream.range(0, 8)
              .mapToObj(i -> CompletableFuture.runAsync(() -> CheckCodecs.register(vertx)))
              .toArray(CompletableFuture<?>[]::new);

      CompletableFuture.allOf(registrations).get();
    } finally {
      vertx.close().await();
    }
  }
}
