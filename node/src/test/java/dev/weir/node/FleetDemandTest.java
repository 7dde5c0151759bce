package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FleetDemandTest {

  private static final JsonObject ONE = told(Optional.of(Map.of("gold", 1.5, "free", 2.0)));
  private static final JsonObject OTHER = told(Optional.of(Map.of("gold", 1.0)));

  private static JsonObject told(Optional<Map<String, Double>> rates) {
    return FleetDemand.tell(() -> rates).apply(new JsonObject());
  }

  private static FleetDemand.Sums sums(List<JsonObject> answers, List<String> silent) {
    return new FleetDemand(question -> Future.succeededFuture(new NodeBus.Answers(answers, silent)))
        .now()
        .result();
  }

  @Test
  void demandOfAllNodesIsAddedUp() {
    assertThat(sums(List.of(ONE, OTHER), List.of()))
        .isEqualTo(new FleetDemand.Sums(Map.of("gold", 2.5, "free", 2.0), true));
  }

  @Test
  void demandIsNotWholeWhileANodeIsSilent() {
    assertThat(sums(List.of(ONE), List.of("10.0.0.2:5701")))
        .isEqualTo(new FleetDemand.Sums(Map.of("gold", 1.5, "free", 2.0), false));
  }

  @Test
  void demandIsNotWholeWhileANodeHasJustStarted() {
    assertThat(sums(List.of(OTHER, told(Optional.empty())), List.of()))
        .isEqualTo(new FleetDemand.Sums(Map.of("gold", 1.0), false));
  }
}
