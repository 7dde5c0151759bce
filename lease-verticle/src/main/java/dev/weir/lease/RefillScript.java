package dev.weir.lease;

import dev.weir.config.TokenBucket;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

/** How a call of {@code refill.lua} is written and its reply read. Immutable. */
final class RefillScript {
  private static final int REPLIES_PER_TAKE = 3;

  /**
   * The part of a call that one refill makes.
   *
   * @param names of levels, one per take
   * @param arguments as the script expects them of a step
   */
  record Step(List<String> names, List<String> arguments) {}

  private final String text;
  private final String sha1;
  private final AccountingWindow window;

  RefillScript(String text, AccountingWindow window) {
    this.text = text;
    this.sha1 = sha1(text);
    this.window = window;
  }

  /** The script as it is shipped. */
  static String shipped() {
    try (InputStream in = RefillScript.class.getResourceAsStream("refill.lua")) {
      return new String(
          Objects.requireNonNull(in, "refill.lua").readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * @param escapedKey the refill's key as it stands in names
   */
  Step step(StoreKeys keys, String escapedKey, Refill refill) {
    List<Take> takes = refill.takes();
    List<String> names = new ArrayList<>(takes.size());
    List<String> arguments = new ArrayList<>(2 + 7 * takes.size());
    arguments.add(Long.toString(window.jitterMicros(refill.key())));
    arguments.add(Integer.toString(takes.size()));
    for (Take take : takes) {
      names.add(keys.level(escapedKey, take.limit().name()));
      TokenBucket bucket = (TokenBucket) take.limit().algorithm();
      arguments.add(Double.toString(bucket.rate()));
      arguments.add(Double.toString(bucket.periodMicros()));
      arguments.add(Long.toString(bucket.capacity()));
      arguments.add(Long.toString(take.returned()));
      arguments.add(Long.toString(take.charged()));
      arguments.add(Long.toString(take.need()));
      arguments.add(Long.toString(take.ask()));
    }
    return new Step(names, arguments);
  }

  Request load() {
    return Request.cmd(Command.SCRIPT).arg("LOAD").arg(text);
  }

  /** A call of the script that the server should have. */
  Request callLoaded(List<Step> steps) {
    return call(Request.cmd(Command.EVALSHA).arg(sha1), steps);
  }

  /** A call that brings the script along. */
  Request callWithText(List<Step> steps) {
    return call(Request.cmd(Command.EVAL).arg(text), steps);
  }

  private Request call(Request request, List<Step> steps) {
    request.arg(steps.stream().mapToInt(step -> step.names.size()).sum());
    steps.forEach(step -> step.names.forEach(request::arg));
    request.arg(window.micros());
    steps.forEach(step -> step.arguments.forEach(request::arg));
    return request;
  }

  /** What came of each of {@code steps}. */
  List<RefillOutcome> read(List<Step> steps, Response reply) {
    long storeMicros = reply.get(0).toLong();
    int at = 1;
    List<RefillOutcome> outcomes = new ArrayList<>(steps.size());
    for (Step step : steps) {
      List<Level> levels = new ArrayList<>(step.names.size());
      for (int take = 0; take < step.names.size(); take++) {
        levels.add(
            new Level(
                reply.get(at).toLong(),
                Double.parseDouble(reply.get(at + 1).toString()),
                reply.get(at + 2).toLong()));
        at += REPLIES_PER_TAKE;
      }
      outcomes.add(new Answered(storeMicros, levels));
    }
    return outcomes;
  }

  private static String sha1(String text) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }
}
