package dev.weir.bench;

import dev.weir.lease.RedisServer;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A Redis in a process of its own that tells what it did. */
final class MeasuredRedis implements AutoCloseable {

  private static final Pattern SCRIPT_CALLS =
      Pattern.compile("cmdstat_(?:evalsha|eval):calls=(\\d+)");
  private static final Pattern CPU_SECONDS =
      Pattern.compile("used_cpu_(?:user|sys):([0-9.]+)", Pattern.MULTILINE);

  private final RedisServer server;

  private MeasuredRedis(RedisServer server) {
    this.server = server;
  }

  /**
   * Starts the one that is installed, else one that comes with Weir's tests.
   *
   * @throws LeftOutException if neither does
   */
  static MeasuredRedis start() {
    try {
      return new MeasuredRedis(RedisServer.startProcess());
    } catch (RuntimeException | LinkageError e) {
      // An error where there is none for such a machine.
      throw new LeftOutException("no Redis starts here: " + e);
    }
  }

  String url() {
    return server.url();
  }

  /** Settings of a node that has its counters there, and waits for an answer if need be. */
  Map<String, String> patientSettings() {
    return Map.of("store.url", url(), "store.timeout", "2s");
  }

  /** What it did up to now. */
  Done done() {
    return new Done(sum(SCRIPT_CALLS, "commandstats"), sum(CPU_SECONDS, "cpu"), System.nanoTime());
  }

  private double sum(Pattern figure, String section) {
    Matcher found =
        figure.matcher(server.call("INFO", section.toUpperCase(Locale.ROOT)).toString());
    double sum = 0;
    while (found.find()) {
      sum += Double.parseDouble(found.group(1));
    }
    return sum;
  }

  @Override
  public void close() {
    server.close();
  }

  /**
   * What it did.
   *
   * @param scriptCalls that it was called for
   * @param cpuSeconds that it had a processor
   * @param atNanos when it said so
   */
  record Done(double scriptCalls, double cpuSeconds, long atNanos) {

    /** Calls of scripts since then, in a second. */
    double scriptCallsPerSecond(Done since) {
      return (scriptCalls - since.scriptCalls) / seconds(since);
    }

    /** The part of one processor that it took since then, 0 to 1. */
    double cpuShare(Done since) {
      return (cpuSeconds - since.cpuSeconds) / seconds(since);
    }

    private double seconds(Done since) {
      return (atNanos - since.atNanos) / 1e9;
    }
  }
}
