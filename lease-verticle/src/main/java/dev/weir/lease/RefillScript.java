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
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** How a call of {@code refill.lua} is written and its reply read. Owned by one thread. */
final class RefillScript {
  private static final int REPLIES_PER_TAKE = 3;

  /**
   * The part of a call that one refill makes.
   *
   * @param names of levels, one per take, and what else the step needs
   * @param takes how many there are
   * @param purpose of the refill
   * @param arguments as the script expects them of a step
   */
  record Step(List<String> names, int takes, Purpose purpose, List<String> arguments) {}

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
    List<String> arguments = new ArrayList<>(2 + 7 * takes.size());
    if (refill.purpose() instanceof Purpose.Settle settle) {
      names.add(keys.reservation(tag, settle.reservation()));
      arguments.add("settle");
      arguments.add(settle.reservation());
      boolean all = settle.spent() == Purpose.Settle.ALL;
      arguments.add(all ? "all" : Long.toString(settle.spent()));
    } else {
      addTakes(tag, refill, epoch, names, arguments);
    }
    if (refill.purpose() instanceof Purpose.Decide decide) {
      addDecision(tag, decide, names, arguments);
    }
    return new Step(names, takes.size(), refill.purpose(), arguments);
  }

  /** What stands before the arguments of the takes, and behind their names. */
  private void addDecision(
      String tag, Purpose.Decide decide, List<String> names, List<String> arguments) {
    List<String> head = new ArrayList<>(List.of("decide", "", "0", ""));
    decide
        .reservation()
        .ifPresent(
            reservation -> {
              head.set(1, reservation.id());
              head.set(2, Long.toString(reservation.life().toMillis() * 1000));
              names.add(keys.reservation(tag, reservation.id()));
            });
    decide
        .once()
        .ifPresent(
            once -> {
              head.set(3, once.request());
              names.add(keys.once(tag, once.id()));
            });
    head.add(Integer.toString(arguments.size()));
    arguments.addAll(0, head);
  }

  /**
   * @param epoch of the store, which has to be told what the node was told in another
   */
  private void addTakes(
      String tag, Refill refill, long epoch, List<String> names, List<String> arguments) {
    List<Take> takes = refill.takes();
    arguments.add(Long.toString(window.jitterMicros(refill.key())));
    arguments.add(Integer.toString(takes.size()));
    for (Take take : takes) {
      names.add(keys.level(tag, take.limit().name()));
      Take.Told told = take.told();
      if (told.used() > 0 && told.epoch() != epoch) {
        arguments.add("told");
        arguments.add(Double.toString(told.used()));
      }
      Algorithm algorithm = take.limit().algorithm();
      addNumbers(arguments, refill.key(), algorithm);
      arguments.add(Long.toString(take.returned()));
      if (!(algorithm instanceof TokenBucket)) {
        arguments.add(Long.toString(take.grantedIn()));
      }
      arguments.add(Long.toString(take.charged()));
      arguments.add(Long.toString(take.need()));
      arguments.add(Long.toString(take.ask()));
    }
  }

  /** The part of a call that forgets what was used of limits of a key. */
  Step forgetting(String tag, List<String> limitNames) {
    List<String> names = limitNames.stream().map(limit -> keys.level(tag, limit)).toList();
    List<String> arguments = new ArrayList<>();
    arguments.add("0");
    arguments.add(Integer.toString(names.size()));
    names.forEach(name -> arguments.add("forget"));
    return new Step(names, names.size(), new Purpose.Lease(), arguments);
  }

  private void addNumbers(List<String> arguments, String key, Algorithm algorithm) {
    if (algorithm instanceof TokenBucket bucket) {
      arguments.add(Double.toString(bucket.rate()));
      arguments.add(Double.toString(bucket.periodMicros()));
      arguments.add(Long.toString(bucket.capacity()));
    } else if (algorithm instanceof SlidingWindow sliding) {
      addWindow(arguments, "sliding", key, sliding.limit(), sliding.windowMicros());
    } else if (algorithm instanceof FixedWindow fixed) {
      if (fixed.period() instanceof Calendar calendar) {
        addCalendar(arguments, fixed.limit(), calendar);
      } else {
        long length = fixed.period().nominal().toNanos() / 1000;
        addWindow(arguments, "fixed", key, fixed.limit(), length);
      }
    } else if (algorithm instanceof SlidingLog log) {
      arguments.add("log");
      arguments.add(Long.toString(log.limit()));
      arguments.add(Long.toString(log.windowMicros()));
    }
  }

  private static void addWindow(
      List<String> arguments, String kind, String key, long limit, long lengthMicros) {
    arguments.add(kind);
    arguments.add(Long.toString(limit));
    arguments.add(Long.toString(lengthMicros));
    arguments.add(Long.toString(Jitter.micros(key, lengthMicros)));
  }

  /** The store picks the window by its own time, among those around what its time should be. */
  private void addCalendar(List<String> arguments, long limit, Calendar calendar) {
    long estimate = storeClock.micros();
    StoreWindow window = calendars.at(calendar, estimate);
    arguments.add("calendar");
    arguments.add(Long.toString(limit));
    arguments.add(StoreWindow.name(calendar));
    arguments.add(Long.toString(calendars.startMicros(calendar, estimate)));
    arguments.add(Long.toString(window.endMicros()));
    arguments.add(Long.toString(window.nextEndMicros()));
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
    steps.forEach(step -> step.arguments.forEach(request::arg));
    return request;
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
    Reading reading = new Reading(reply, storeMicros, epoch.number);
    return steps.stream().map(reading::next).toList();
  }

  /** Goes through a reply, step by step. */
  private static final class Reading {
    private final Response reply;
    private final long storeMicros;
    private final long epoch;
    private int at = 2;

    Reading(Response reply, long storeMicros, long epoch) {
      this.reply = reply;
      this.storeMicros = storeMicros;
      this.epoch = epoch;
    }

    RefillOutcome next(Step step) {
      if (step.purpose instanceof Purpose.Lease) {
        return new Answered(storeMicros, levels(step), epoch);
      }
      String head = reply.get(at).toString();
      at++;
      if (step.purpose instanceof Purpose.Settle) {
        Settled settled = new Settled(verdict(head), reply.get(at).toLong());
        at++;
        return settled;
      }
      if (head.equals("other")) {
        return new UsedOtherwise();
      }
      List<Level> levels = levels(step);
      if (head.equals("new")) {
        return new Answered(storeMicros, levels, epoch);
      }
      int space = head.lastIndexOf(' ');
      String reservation = head.substring(space + 1);
      return new Repeated(
          new Answered(Long.parseLong(head.substring("again ".length(), space)), levels, epoch),
          reservation.equals("-") ? Optional.empty() : Optional.of(reservation));
    }

    private List<Level> levels(Step step) {
      List<Level> levels = new ArrayList<>(step.takes);
      for (int take = 0; take < step.takes; take++) {
        String counted = reply.get(at + 1).toString();
        boolean reserved = counted.charAt(0) == '~';
        levels.add(
            new Level(
                reply.get(at).toLong(),
                consumption(reserved ? counted.substring(1) : counted),
                reply.get(at + 2).toLong(),
                reserved));
        at += REPLIES_PER_TAKE;
      }
      return levels;
    }

    private static Verdict verdict(String told) {
      return switch (told) {
        case "settled" -> Verdict.SETTLED;
        case "before" -> Verdict.BEFORE;
        case "more" -> Verdict.TOO_MUCH;
        default -> Verdict.UNKNOWN;
      };
    }
  }

  private static Consumption consumption(String told) {
    if (told.indexOf(' ') < 0) {
      return Consumption.ofBucket(Double.parseDouble(told));
    }
    String[] parts = told.split(" ", -1);
    double used = Double.parseDouble(parts[0]);
    double previous = Double.parseDouble(parts[1]);
    long left = Long.parseLong(parts[2]);
    return parts.length == 3
        ? new Consumption(used, previous, left)
        : new Consumption(used, previous, left, came(parts, 3), came(parts, 5));
  }

  private static Came came(String[] parts, int at) {
    return new Came(Long.parseLong(parts[at]), Long.parseLong(parts[at + 1]));
  }
}
