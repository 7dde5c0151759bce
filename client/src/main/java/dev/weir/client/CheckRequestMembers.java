package dev.weir.client;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/**
 * A check as its members are read, one after the other: {@code key}, {@code endpoint}, {@code
 * cost}, {@code plan}, {@code id}. One place for the rules, however the check came: JSON, query
 * parameters or the event bus.
 *
 * <p>For one check and one thread. Every complaint is a {@link CheckRefusedException} with code
 * 400, whose message begins with the member's name.
 */
public final class CheckRequestMembers {

  private static final String COST_RULE =
      "cost: must be a whole number from 0 to " + CheckRequest.MAX_COST;

  /** Digits of the largest cost; a longer number need not be expanded to be refused. */
  private static final int MAX_COST_DIGITS = 13;

  private static final int MAX_SHOWN = 40;

  private String key;
  private String endpoint;
  private String plan;
  private String id;
  private long cost = CheckRequest.COST_OF_ENDPOINT;
  private boolean costGiven;

  /**
   * Takes one member.
   *
   * @param value as JSON has it: a {@code String}, {@code Number}, {@code Boolean}, {@code null},
   *     or anything else for an object or an array
   * @throws CheckRefusedException if there is no such member, it was given before, or its value
   *     cannot be
   */
  public void put(String name, Object value) {
    switch (name) {
      case "key" -> {
        once(key == null, name);
        key = text(name, value);
      }
      case "endpoint" -> {
        once(endpoint == null, name);
        endpoint = nonEmpty(name, text(name, value));
      }
      case "plan" -> {
        once(plan == null, name);
        plan = nonEmpty(name, text(name, value));
      }
      case "id" -> {
        once(id == null, name);
        id = nonEmpty(name, text(name, value));
      }
      case "cost" -> {
        once(!costGiven, name);
        cost = costOf(value);
        costGiven = true;
      }
      default ->
          throw CheckRefusedException.badRequest(
              shortened(name) + ": is not a member of a check (key, endpoint, cost, plan, id)");
    }
  }

  /**
   * The check that the members make up.
   *
   * @throws CheckRefusedException if the key is missing, or a member is out of its range
   */
  public CheckRequest toRequest() {
    if (key == null) {
      throw CheckRefusedException.badRequest("key: is missing");
    }
    return new CheckRequest(key, orNone(endpoint), cost, orNone(plan), orNone(id));
  }

  private static String orNone(String text) {
    return text == null ? "" : text;
  }

  private static void once(boolean first, String name) {
    if (!first) {
      throw CheckRefusedException.badRequest(name + ": is given more than once");
    }
  }

  private static String text(String name, Object value) {
    if (value instanceof String text) {
      return text;
    }
    throw CheckRefusedException.badRequest(name + ": must be a string, was " + kind(value));
  }

  private static String nonEmpty(String name, String text) {
    if (text.isEmpty()) {
      throw CheckRefusedException.badRequest(name + ": must not be empty; leave it out instead");
    }
    return text;
  }

  /**
   * The cost that a member's value is.
   *
   * @throws CheckRefusedException if it is none
   */
  public static long costOf(Object value) {
    if (value instanceof Long || value instanceof Integer) {
      long whole = ((Number) value).longValue();
      if (whole >= 0 && whole <= CheckRequest.MAX_COST) {
        return whole;
      }
    } else if (value instanceof Number number) {
      return wholeCost(number);
    }
    throw badCost(value);
  }

  /**
   * JSON has one kind of number, and writers of it turn 2 into 2.0 or 2e0 as they please, so what
   * counts is the value.
   */
  private static long wholeCost(Number number) {
    BigDecimal exact;
    try {
      exact = new BigDecimal(number.toString());
    } catch (NumberFormatException notFinite) {
      throw CheckRefusedException.badRequest(COST_RULE);
    }
    if (exact.signum() == 0) {
      return 0;
    }
    // The order matters: 1e999999999 is small here, and huge as a long string of digits.
    if (exact.signum() > 0
        && (long) exact.precision() - exact.scale() <= MAX_COST_DIGITS
        && exact.stripTrailingZeros().scale() <= 0
        && exact.longValueExact() <= CheckRequest.MAX_COST) {
      return exact.longValueExact();
    }
    throw badCost(number);
  }

  private static CheckRefusedException badCost(Object value) {
    return CheckRefusedException.badRequest(COST_RULE + ", was " + kind(value));
  }

  private static String kind(Object value) {
    if (value == null) {
      return "null";
    }
    if (value instanceof Number number) {
      return shortened(number.toString());
    }
    if (value instanceof String) {
      return "a string";
    }
    if (value instanceof Boolean) {
      return "a boolean";
    }
    if (value instanceof Map || value instanceof JsonObject) {
      return "an object";
    }
    if (value instanceof List || value instanceof JsonArray) {
      return "an array";
    }
    return "something else";
  }

  private static String shortened(String text) {
    return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "...";
  }
}
