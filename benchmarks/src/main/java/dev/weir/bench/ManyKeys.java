package dev.weir.bench;

import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * How the latency of a check over HTTP grows with the number of keys that the node knows and is
 * asked about. At one steady rate, so that all but the keys is alike.
 */
final class ManyKeys implements Section {

  private static final double PER_SECOND = 5_000;
  private static final int CONNECTIONS = 64;

  /** Checks of a turn, one after another, before it begins anew; each turn makes others. */
  private static final int CHECKS = 1 << 15;

  private static final int PORTIONS = 8;

  /** Checks of a batch, at most as many as a node takes. */
  private static final int BATCH = 10_000;

  @Override
  public String name() {
    return "many_keys";
  }

  @Override
  public void measure(Effort effort, JsonObject results) {
    Map<Integer, ServerProcess> nodes = new TreeMap<>();
    try (VertxHttpLoad client = new VertxHttpLoad()) {
      Turns turns = new Turns();
      for (int keys : effort.keyCounts()) {
        ServerProcess node = ServerProcess.node(BenchPlan.LEASED.yaml());
        nodes.put(keys, node);
        Iterator<Ask> asks = checks(client, node, new Keys(keys));
        turns.add(
            side(keys),
            () ->
                AddedLatency.figures(
                    client.run(node.port(), asks.next(), effort.length(), PER_SECOND)));
      }
      Table table = turns.take(effort);
      JsonObject all = new JsonObject().put("per_second", PER_SECOND);
      nodes.keySet().forEach(keys -> all.put(side(keys), AddedLatency.medians(table, side(keys))));
      results.put(name(), all);
    } finally {
      nodes.values().forEach(ServerProcess::close);
    }
  }

  private static String side(int keys) {
    return Integer.toString(keys);
  }

  /** Has the node asked about all keys once, and gives what it is asked then, turn by turn. */
  private static Iterator<Ask> checks(VertxHttpLoad client, ServerProcess node, Keys keys) {
    List<String> each =
        IntStream.range(0, keys.count())
            .mapToObj(number -> "{\"key\":\"" + keys.kept(number) + "\"}")
            .toList();
    for (int from = 0; from < each.size(); from += BATCH) {
      String batch =
          each.subList(from, Math.min(each.size(), from + BATCH)).stream()
              .collect(Collectors.joining(",", "{\"checks\":[", "]}"));
      client.answer(node.port(), new Ask("/v1/check/batch", List.of(batch), 1, 1));
    }
    List<Ask> portions = new ArrayList<>(PORTIONS);
    for (int portion = 0; portion < PORTIONS; portion++) {
      List<String> bodies =
          Arrays.stream(Popularity.sequence(keys.count(), CHECKS, portion))
              .mapToObj(each::get)
              .toList();
      portions.add(new Ask("/v1/check", bodies, CONNECTIONS, 1));
    }
    return Stream.generate(() -> portions).flatMap(List::stream).iterator();
  }
}
