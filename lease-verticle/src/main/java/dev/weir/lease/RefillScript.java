package dev.weir.lease;

import dev.weir.config.Algorithm;
import dev.weir.config.Consumption;
import dev.weir.config.Consumption.Came;
import dev.weir.config.FixedWindow;
import dev.weir.config.SlidingLog;
import dev.weir.config.SlidingWindow;
import dev.weir.config.TokenBucket;
import dev.weir.config.WindowPeriod.Calendar;
import dev.weir.lease.RefillOutcome.Answered;
import dev.weir.lease.RefillOutcome.Level;
import dev.weir.lease.RefillOutcome.Repeated;
import dev.weir.lease.RefillOutcome.Settled;
import dev.weir.lease.RefillOutcome.UsedOtherwise;
import dev.weir.lease.RefillOutcome.Verdict;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** How a call of {@code refill.lua} is written and its reply read. Owned by one thread. */
final class RefillScript {
  /** A take is about as long. */
  private static final int BYTES_PER_TAKE = 80;

  /** As a capital, a letter tells that what the node was told stands behind it. */
  private static final int CAPITAL = 'a' - 'A';

  private static final int RESERVED = 16;

  /**
   * The part of a call that one refill makes.
   *
   * @param names of levels, one per take, and what else the step needs
   * @param takes how many there are
   * @param purpose of the refill
   * @param bytes of the step, as the script expects them
   */
  record Step(List<String> names, int takes, Purpose purpose, Buffer bytes) {}

  private final LuaScript script;
  private final StoreKeys keys;
  private final AccountingWindow window;
  private final StoreClock storeClock;
  private final StoreWindow.Calendars calendars = new StoreWindow.Calendars();

  /**
   * @param storeClock of this script, which learns from each reply
   */
  RefillScript(String text, StoreKeys keys, AccountingWindow window, StoreClock storeClock) {
    this.script = LuaScript.of(text);
    this.keys = keys;
    this.window = window;
    this.storeClock = storeClock;
  }

  /** The script as it is shipped. */
  static String shipped() {
    return LuaScript.shipped("refill.lua");
  }

  /**
   * @param tag the hash tag of the refill's counters
   * @param epoch of the store
   */
  Step step(String tag, Refill refill, long epoch) {
    List<Take> takes = refill.takes();
    List<String> names = new ArrayList<>(takes.size());
    Buffer bytes = Buffer.buffer(BYTES_PER_TAKE * (1 + takes.size()));
    if (refill.purpose() instanceof Purpose.Settle settle) {
      names.add(keys.reservation(tag, settle.reservation()));
      bytes.appendByte((byte) 's');
      appendText(bytes, settle.reservation());
      boolean all = settle.spent() == Purpose.Settle.ALL;
      bytes.appendDouble(all ? -1 : (double) settle.spent());
    } else {
      appendTakes(tag, refill, epoch, names, bytes);
    }
    if (refill.purpose() instanceof Purpose.Decide decide) {
      bytes = decision(tag, decide, takes.size(), bytes, names);
    }
    return new Step(names, takes.size(), refill.purpose(), bytes);
  }

  /** What a step that is decided is, with its names behind those of the takes. */
  private Buffer decision(
      String tag, Purpose.Decide decide, int takes, Buffer decided, List<String> names) {
    Buffer bytes = Buffer.buffer().appendByte((byte) 'd');
    appendText(bytes, decide.reservation().map(Purpose.Reservation::id).orElse(""));
    bytes.appendDouble(
        decide
            .reservation()
            .map(reservation -> reservation.life().toMillis() * 1000.0)
            .orElse(0.0));
    appendText(bytes, decide.once().map(Purpose.Once::request).orElse(""));
    bytes.appendByte((byte) takes).appendInt(decided.length()).appendBuffer(decided);
    decide.reservation().ifPresent(r -> names.add(keys.reservation(tag, r.id())));
    decide.once().ifPresent(once -> names.add(keys.once(tag, once.id())));
    return bytes;
  }

  /**
   * @param epoch of the store, which has to be told what the node was told in another
   */
  private void appendTakes(
      String tag, Refill refill, long epoch, List<String> names, Buffer bytes) {
    appendHead(bytes, window.jitterMicros(refill.key()), refill.takes().size());
    for (Take take : refill.takes()) {
      names.add(keys.level(tag, take.limit().name()));
      Take.Told told = take.told();
      Algorithm algorithm = take.limit().algorithm();
      if (told.used() > 0 && told.epoch() != epoch) {
        bytes.appendByte((byte) (letter(algorithm) - CAPITAL)).appendDouble(told.used());
      } else {
        bytes.appendByte(letter(algorithm));
      }
      appendNumbers(bytes, refill.key(), algorithm);
      bytes
          .appendDouble((double) take.returned())
          .appendDouble((double) take.grantedIn())
          .appendDouble((double) take.charged())
          .appendDouble((double) take.need())
          .appendDouble((double) take.ask());
    }
  }

  /** The part of a call that forgets what was used of limits of a key. */
  Step forgetting(String tag, List<String> limitNames) {
    List<String> names = limitNames.stream().map(limit -> keys.level(tag, limit)).toList();
    Buffer bytes = Buffer.buffer();
    appendHead(bytes, 0, names.size());
    names.forEach(name -> bytes.appendByte((byte) 'n'));
    return new Step(names, names.size(), new Purpose.Lease(), bytes);
  }

  private static void appendHead(Buffer bytes, long jitterMicros, int takes) {
    bytes.appendByte((byte) 'r').appendDouble((double) jitterMicros).appendByte((byte) takes);
  }

  private static byte letter(Algorithm algorithm) {
    if (algorithm instanceof TokenBucket) {
      return 'b';
    } else if (algorithm instanceof SlidingWindow) {
      return 's';
    } else if (algorithm instanceof FixedWindow fixed) {
      return (byte) (fixed.period() instanceof Calendar ? 'c' : 'f');
    }
    return 'l';
  }

  private void appendNumbers(Buffer bytes, String key, Algorithm algorithm) {
    if (algorithm instanceof TokenBucket bucket) {
      bytes
          .appendDouble(bucket.rate())
          .appendDouble(bucket.periodMicros())
          .appendDouble((double) bucket.capacity());
    } else if (algorithm instanceof SlidingWindow sliding) {
      appendWindow(bytes, key, sliding.limit(), sliding.windowMicros());
    } else if (algorithm instanceof FixedWindow fixed) {
      if (fixed.period() instanceof Calendar calendar) {
        appendCalendar(bytes, fixed.limit(), calendar);
      } else {
        appendWindow(bytes, key, fixed.limit(), fixed.period().nominal().toNanos() / 1000);
      }
    } else if (algorithm instanceof SlidingLog log) {
      bytes.appendDouble((double) log.limit()).appendDouble((double) log.windowMicros());
    }
  }

  private static void appendWindow(Buffer bytes, String key, long limit, long lengthMicros) {
    bytes.appendDouble((double) limit);
    appendText(bytes, Long.toString(lengthMicros));
    bytes.appendDouble((double) Jitter.micros(key, lengthMicros));
  }

  /** The store picks the window by its own time, among those around what its time should be. */
  private void appendCalendar(Buffer bytes, long limit, Calendar calendar) {
    long estimate = storeClock.micros();
    StoreWindow window = calendars.at(calendar, estimate);
    bytes.appendDouble((double) limit);
    appendText(bytes, StoreWindow.name(calendar));
    bytes
        .appendDouble((double) calendars.startMicros(calendar, estimate))
        .appendDouble((double) window.endMicros())
        .appendDouble((double) window.nextEndMicros());
  }

  private static void appendText(Buffer bytes, String text) {
    byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
    bytes.appendUnsignedShort(encoded.length).appendBytes(encoded);
  }

  Request load() {
    return script.load();
  }

  /**
   * What a call says of the epoch.
   *
   * @param tag that the name of its mark has
   * @param mark that should be there; empty if none has been seen
   * @param proposal to begin one with where there is none
   * @param number of the epoch
   */
  record Epoch(String tag, String mark, String proposal, long number) {}

  /** A call of the script that the server should have. */
  Request callLoaded(Epoch epoch, List<Step> steps) {
    return call(script.callLoaded(), epoch, steps);
  }

  /** A call that brings the script along. */
  Request callWithText(Epoch epoch, List<Step> steps) {
    return call(script.callWithText(), epoch, steps);
  }

  private Request call(Request request, Epoch epoch, List<Step> steps) {
    request.arg(1 + steps.stream().mapToInt(step -> step.names.size()).sum());
    steps.forEach(step -> step.names.forEach(request::arg));
    request.arg(keys.epoch(epoch.tag));
    request.arg(window.micros());
    request.arg(epoch.mark);
    request.arg(epoch.proposal);
    Buffer bytes = Buffer.buffer(steps.stream().mapToInt(step -> step.bytes.length()).sum());
    steps.forEach(step -> bytes.appendBuffer(step.bytes));
    return request.arg(bytes);
  }

  /** The mark that was there, if it is not the one that the call told. */
  static Optional<String> otherMark(Response reply) {
    String mark = reply.get(1).toString();
    return mark.isEmpty() ? Optional.empty() : Optional.of(mark);
  }

  /** What came of each of {@code steps}. */
  List<RefillOutcome> read(Epoch epoch, List<Step> steps, Response reply) {
    long storeMicros = reply.get(0).toLong();
    storeClock.observe(storeMicros);
    Reading reading = new Reading(reply.get(2).toBuffer(), storeMicros, epoch.number);
    return steps.stream().map(reading::next).toList();
  }

  /** Goes through a reply, step by step. */
  private static final class Reading {
    private final Buffer reply;
    private final long storeMicros;
    private final long epoch;
    private int at;

    Reading(Buffer reply, long storeMicros, long epoch) {
      this.reply = reply;
      this.storeMicros = storeMicros;
      this.epoch = epoch;
    }

    RefillOutcome next(Step step) {
      if (step.purpose instanceof Purpose.Lease) {
        return new Answered(storeMicros, levels(step), epoch);
      }
      char letter = (char) number();
      if (step.purpose instanceof Purpose.Settle) {
        return new Settled(verdict(letter), whole());
      }
      if (letter == 'o') {
        return new UsedOtherwise();
      }
      if (letter == 'n') {
        return new Answered(storeMicros, levels(step), epoch);
      }
      long firstMicros = whole();
      String reservation = text();
      return new Repeated(
          new Answered(firstMicros, levels(step), epoch),
          reservation.isEmpty() ? Optional.empty() : Optional.of(reservation));
    }

    private List<Level> levels(Step step) {
      List<Level> levels = new ArrayList<>(step.takes);
      for (int take = 0; take < step.takes; take++) {
        int numbers = number();
        long granted = whole();
        long authorized = whole();
        boolean reserved = numbers > RESERVED;
        Consumption counted = consumption(reserved ? numbers - RESERVED : numbers);
        levels.add(new Level(granted, counted, authorized, reserved));
      }
      return levels;
    }

    private Consumption consumption(int numbers) {
      if (numbers == 1) {
        return Consumption.ofBucket(next());
      }
      double used = next();
      double previous = next();
      long left = whole();
      return numbers == 3
          ? new Consumption(used, previous, left)
          : new Consumption(used, previous, left, came(), came());
    }

    private Came came() {
      return new Came(whole(), whole());
    }

    private int number() {
      return reply.getByte(at++);
    }

    private double next() {
      double number = reply.getDouble(at);
      at += Double.BYTES;
      return number;
    }

    private long whole() {
      return (long) next();
    }

    private String text() {
      int length = reply.getUnsignedShort(at);
      at += Short.BYTES + length;
      return reply.getString(at - length, at);
    }

    private static Verdict verdict(char letter) {
      return switch (letter) {
        case 's' -> Verdict.SETTLED;
        case 'b' -> Verdict.BEFORE;
        case 'm' -> Verdict.TOO_MUCH;
        default -> Verdict.UNKNOWN;
      };
    }
  }
}
