package dev.weir.bench;

import dev.weir.lease.RedisCluster;
import dev.weir.lease.RedisServer;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** A Redis, or a cluster of them, in processes of its own, which tells what it did. */
final class MeasuredRedis implements AutoCloseable {

  private static final Pattern SCRIPT_CALLS =
      Pattern.compile("cmdstat_(?:evalsha|eval):calls=(\\d+)");
  private static final Pattern CPU_SECONDS =
      Pattern.compile("used_cpu_(?:user|sys):([0-9.]+)", Pattern.MULTILINE);

  private final String url;
  private final List<RedisServer> servers;

  private MeasuredRedis(String url, List<RedisServer> servers) {
    this.url = url;
    this.servers = servers;
  }

  /**
   * Starts the one that is installed, else one that comes with Weir's tests.
   *
   * @throws LeftOutException if neither does
   */
  static MeasuredRedis start() {
    try {
      RedisServer server = RedisServer.startProcess();
      return new MeasuredRedis(server.url(), List.of(server));
    } catch (RuntimeException | LinkageError e) {
      // An error where there is none for such a machine.
      throw new LeftOutException("no Redis starts here: " + e);
    }
  }

  /**
   * Starts a cluster of such ones.
   *
   * @param masters 1 or more, which share the slots
   * @throws LeftOutException if that fails
   */
  static MeasuredRedis startCluster(int masters) {
    try {
      RedisCluster cluster = RedisCluster.start(masters, false);
      return new MeasuredRedis(cluster.url(), cluster.masters());
    } catch (RuntimeException | LinkageError e) {
      throw new LeftOutException("no Redis Cluster starts here: " + e);
    }
  }

  String url() {
    return url;
  }

  /** Settings of a node that has its counters there, and waits for an answer if need be. */
  Map<String, String> patientSettings() {
    return Map.of("store.url", url(), "store.timeout", "2s");
  }

  /** Ends it at once. What it held is lost. */
  void kill() {
    servers.forEach(RedisServer::kill);
  }

  /** Starts it again, empty, where it was. */
  void restart() {
    servers.forEach(RedisServer::restart);
  }

  /** What it did up to now. */
  Done done() {
    return new Done(
        sums(SCRIPT_CALLS, "COMMANDSTATS"), sums(CPU_SECONDS, "CPU"), System.nanoTime());
  }

  private List<Double> sums(Pattern figure, String section) {
    return servers.stream().map(server -> sum(server, figure, section)).toList();
  }

  private static double sum(RedisServer server, Pattern figure, String section) {
    Matcher found = figure.matcher(server.call("INFO", section).toString());
    double sum = 0;
    while (found.find()) {
      sum += Double.parseDouble(found.group(1));
    }
    return sum;
  }

  @Override
  public void close() {
    servers.forEach(RedisServer::close);
  }

  /**
   * What it did, or each of the cluster.
   *
   * @param scriptCalls that it was called for
   * @param cpuSeconds that it had a processor
   * @param atNanos when it said so
   */
  record Done(List<Double> scriptCalls, List<Double> cpuSeconds, long atNanos) {

    /** Calls of scripts since then, of the one that had the most. */
    double scriptCalls(Done since) {
      return most(scriptCalls, since.scriptCalls);
    }

    /** The same in a second. */
    double scriptCallsPerSecond(Done since) {
      return scriptCalls(since) / seconds(since);
    }

    /** The part of one processor that it took since then, 0 to 1, of the one that took the most. */
    double cpuShare(Done since) {
      return most(cpuSeconds, since.cpuSeconds) / seconds(since);
    }

    private static double most(List<Double> now, List<Double> then) {
      return IntStream.range(0, now.size())
          .mapToDouble(i -> now.get(i) - then.get(i))
          .max()
          .orElse(0);
    }

    private double seconds(Done since) {
      return (atNanos - since.atNanos) / 1e9;
    }
  }
}
