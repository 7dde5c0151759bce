package dev.weir.lease;

import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * How a call of {@code usage.lua} is written and its reply read. Immutable.
 *
 * @param prefix of every name in the store
 * @param maxEntries that the stream may have
 * @param maxReported entries up to which reports are added to the stream beside records
 */
record UsageScript(String prefix, long maxEntries, long maxReported) {

  /** Beyond this no report counts until readers have acknowledged some. */
  static final long MAX_ENTRIES = 1_000_000;

  /** Sealed records tell all that reports do, and have the rest of the room to themselves. */
  static final long MAX_REPORTED = 100_000;

  private static final String FILE = "usage.lua";
  private static final long HOUR_MILLIS = 3_600_000;
  private static final int NAMES = 1;

  UsageScript(String prefix) {
    this(prefix, MAX_ENTRIES, MAX_REPORTED);
  }

  /** The script as it is shipped. */
  static String shipped() {
    return LuaScript.shipped(FILE);
  }

  /** The name of the stream, and the hash tag of all other names. */
  String stream() {
    return prefix + ":usage";
  }

  private String state() {
    return prefix + ":{" + stream() + "}:state";
  }

  /** Adds what a batch has to say to a call. */
  void addBatch(Request call, UsageBatch batch) {
    call.arg(NAMES).arg(state());
    call.arg("report");
    call.arg(batch.incarnation());
    call.arg(batch.node());
    call.arg(batch.number());
    call.arg(
        batch.watermarkMillis().isPresent()
            ? Long.toString(batch.watermarkMillis().getAsLong())
            : "");
    call.arg(batch.gone() ? "gone" : "");
    call.arg(batch.sealedUpToMillis());
    call.arg(maxEntries).arg(maxReported);
    batch.reports().forEach(report -> addReport(call, report));
  }

  private static void addReport(Request call, UsageReport report) {
    String key = StoreKeys.escape(report.key());
    long start = report.windowStartMillis();
    long end = report.windowEndMillis();
    call.arg(report.entry());
    call.arg(end + ":" + start + ":" + StoreKeys.escape(report.plan()) + ":" + key);
    call.arg(hour(start) + ":" + key);
    call.arg(report.key()).arg(report.plan());
    call.arg(start).arg(end);
    addCounts(call, report.total());
    call.arg(report.total().authorized());
    addCounts(call, report.delta());
  }

  private static void addCounts(Request call, UsageCounts counts) {
    call.arg(counts.spent());
    call.arg(counts.degraded());
    call.arg(counts.denied());
    call.arg(counts.wouldDeny());
  }

  /** Adds to a call what only has windows sealed that are due. */
  void addSealing(Request call) {
    addBatch(call, new UsageBatch("", "", 0, List.of(), OptionalLong.empty(), false, 0));
  }

  /**
   * What a call with a batch is answered.
   *
   * @param nowMillis the store's time
   * @param dropped entries of the stream that went unread, since nobody has ever asked for any
   * @param entries of the stream
   * @param open windows that are not sealed
   * @param watermarkMillis before which all windows of all nodes that are heard of are reported to
   *     the end
   */
  record Answer(
      UsageReceipt receipt,
      long nowMillis,
      long dropped,
      long entries,
      long open,
      long watermarkMillis) {}

  static Answer answer(Response reply) {
    UsageReceipt receipt =
        new UsageReceipt(
            reply.get(1).toLong(),
            reply.get(2).toLong(),
            reply.get(3).toLong() == 1,
            reply.get(4).toLong() == 1);
    return new Answer(
        receipt,
        reply.get(0).toLong(),
        reply.get(5).toLong(),
        reply.get(6).toLong(),
        reply.get(7).toLong(),
        reply.get(8).toLong());
  }

  /** Adds to a call what makes a group of readers, if there is none of that name. */
  void addJoining(Request call, String group) {
    call.arg(NAMES).arg(state()).arg("join").arg(group);
  }

  /** Adds to a call what ends a reader that has acknowledged all that it has read. */
  void addLeaving(Request call, String group, String consumer) {
    call.arg(NAMES).arg(state()).arg("leave").arg(group).arg(consumer);
  }

  /** Adds to a call what asks for windows of a key that began in the hour of a time or before. */
  void addRecent(Request call, String key, long nowMillis) {
    String escaped = StoreKeys.escape(key);
    call.arg(NAMES).arg(state()).arg("recent");
    long hour = hour(nowMillis);
    // The next as well: the time is that of this machine.
    for (long h = hour - 1; h <= hour + 1; h++) {
      call.arg(h + ":" + escaped);
    }
  }

  private static long hour(long millis) {
    return Math.floorDiv(millis, HOUR_MILLIS);
  }

  /** The windows that were asked for, the oldest first. */
  static List<RecentUsage> recent(Response reply) {
    long sealedUpTo = reply.get(0).toLong();
    List<RecentUsage> recent = new ArrayList<>();
    for (int i = 1; i < reply.size(); i += 2) {
      String name = reply.get(i).toString();
      int colon = name.indexOf(':');
      String[] numbers = reply.get(i + 1).toString().split(" ", -1);
      long end = Long.parseLong(numbers[0]);
      recent.add(
          new RecentUsage(
              name.substring(colon + 1),
              Long.parseLong(name.substring(0, colon)),
              end,
              new UsageCounts(
                  Long.parseLong(numbers[1]),
                  Long.parseLong(numbers[2]),
                  Long.parseLong(numbers[3]),
                  Long.parseLong(numbers[4]),
                  Long.parseLong(numbers[5])),
              end <= sealedUpTo));
    }
    recent.sort(RecentUsage.OLDEST_FIRST);
    return recent;
  }
}
