package dev.weir.bench;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** A node, and servers that give the node's answer without deciding anything. */
final class ComparedServers implements AutoCloseable {

  static final String NODE = "node";
  static final String BARE = "bare";

  /** Figures of a turn: requests a second, and microseconds of processor time for each. */
  static final String PER_SECOND = "per_second";

  static final String CPU = "cpu_us";

  private final Ask ask;
  private final FixedAnswer answer;
  private final Map<String, ServerProcess> servers = new LinkedHashMap<>();

  /** Starts a node, and a bare server that answers what the node answered to {@code ask}. */
  ComparedServers(Ask ask) {
    this.ask = ask;
    ServerProcess node = ServerProcess.node(BenchPlan.LEASED.yaml());
    servers.put(NODE, node);
    try (VertxHttpLoad client = new VertxHttpLoad()) {
      answer = client.answer(node.port(), ask);
      servers.put(BARE, ServerProcess.bare(answer));
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** What the node answers. */
  FixedAnswer answer() {
    return answer;
  }

  /** Adds one more, which takes its turns after the others and is ended with them. */
  void add(String name, ServerProcess server) {
    servers.put(name, server);
  }

  /** Has all of them asked as fast as they answer. */
  Table compare(HttpLoad client, Effort effort) {
    Turns turns = new Turns();
    servers.forEach((name, server) -> turns.add(name, () -> ask(server, client, effort.length())));
    return turns.take(effort);
  }

  private Map<String, Double> ask(ServerProcess server, HttpLoad client, Duration length) {
    double before = server.cpuMicros();
    Load load = client.run(server.port(), ask, length);
    return Map.of(
        PER_SECOND,
        load.perSecond(),
        CPU,
        (server.cpuMicros() - before) / Math.max(1, load.answered()));
  }

  /** Has all of them asked at a steady rate. Gives {@code figures} of each turn. */
  Table compare(
      VertxHttpLoad client,
      Effort effort,
      double perSecond,
      Function<Load, Map<String, Double>> figures) {
    Turns turns = new Turns();
    servers.forEach(
        (name, server) ->
            turns.add(
                name,
                () -> figures.apply(client.run(server.port(), ask, effort.length(), perSecond))));
    return turns.take(effort);
  }

  @Override
  public void close() {
    servers.values().forEach(ServerProcess::close);
  }
}
