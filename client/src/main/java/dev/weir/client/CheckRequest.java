package dev.weir.client;

import java.util.Objects;

/**
 * A question to the limiter: may this key spend this much?
 *
 * <p>Absent members are values, not nulls: an {@code endpoint} or {@code plan} that was not given
 * is the empty string, a {@code cost} that was not given is {@link #COST_OF_ENDPOINT}. No text may
 * be longer than {@value #MAX_KEY_BYTES} bytes of UTF-8.
 *
 * @param key who is limited; 1 to {@value #MAX_KEY_BYTES} bytes of UTF-8, any well-formed Unicode
 * @param endpoint whose weight is the cost when none is given; empty for none
 * @param cost permits asked for, 0 to {@value #MAX_COST}, 0 being a peek that spends nothing; or
 *     {@link #COST_OF_ENDPOINT} to let the endpoint's weight decide
 * @param plan that the caller knows the key to be on; empty to let the configuration decide
 * @param id by which a request of the key that is repeated is known, so that it is decided and
 *     charged once; 1 to {@value #MAX_ID_CHARS} printable ASCII characters, empty for none
 */
public record CheckRequest(String key, String endpoint, long cost, String plan, String id) {

  /** Longest key, endpoint or plan, in bytes of UTF-8. */
  public static final int MAX_KEY_BYTES = 1024;

  /** Longest id. */
  public static final int MAX_ID_CHARS = 255;

  /** Largest cost of one request, in permits. */
  public static final long MAX_COST = 1_000_000_000_000L;

  /** Stands for "what the endpoint weighs", 1 without an endpoint or for one without a weight. */
  public static final long COST_OF_ENDPOINT = -1;

  /**
   * @throws CheckRefusedException with code 400 if a member is out of its range
   */
  public CheckRequest {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(endpoint, "endpoint");
    Objects.requireNonNull(plan, "plan");
    Objects.requireNonNull(id, "id");
    if (key.isEmpty()) {
      throw CheckRefusedException.badRequest("key: must not be empty");
    }
    requireBounded(key, "key");
    requireBounded(endpoint, "endpoint");
    requireBounded(plan, "plan");
    if (cost != COST_OF_ENDPOINT && (cost < 0 || cost > MAX_COST)) {
      throw badCost(cost);
    }
    if (!id.isEmpty() && !isId(id)) {
      throw CheckRefusedException.badRequest(
          "id: must be 1 to " + MAX_ID_CHARS + " printable ASCII characters");
    }
  }

  private static boolean isId(String id) {
    return id.length() <= MAX_ID_CHARS && id.chars().allMatch(c -> c >= ' ' && c <= '~');
  }

  /** A request that is decided and charged each time. */
  public CheckRequest(String key, String endpoint, long cost, String plan) {
    this(key, endpoint, cost, plan, "");
  }

  /** A request of {@code key} at the weight of no endpoint, which is 1. */
  public static CheckRequest of(String key) {
    return new CheckRequest(key, "", COST_OF_ENDPOINT, "");
  }

  /**
   * The same request for {@code cost} permits.
   *
   * @param cost 0 to {@value #MAX_COST}
   */
  public CheckRequest withCost(long cost) {
    if (cost < 0) {
      // The constructor knows a negative number that means something else.
      throw badCost(cost);
    }
    return new CheckRequest(key, endpoint, cost, plan, id);
  }

  /** The same request to {@code endpoint}. */
  public CheckRequest withEndpoint(String endpoint) {
    return new CheckRequest(key, endpoint, cost, plan, id);
  }

  /** The same request under {@code plan}, whatever the configuration says of the key. */
  public CheckRequest withPlan(String plan) {
    return new CheckRequest(key, endpoint, cost, plan, id);
  }

  /**
   * The same request, of which repetitions within 60 s get the same decision.
   *
   * @param id the same for all repetitions, of this key and of no other request
   */
  public CheckRequest withId(String id) {
    return new CheckRequest(key, endpoint, cost, plan, id);
  }

  private static CheckRefusedException badCost(long cost) {
    return CheckRefusedException.badRequest(
        "cost: must be a whole number from 0 to " + MAX_COST + ", was " + cost);
  }

  private static void requireBounded(String text, String member) {
    if (lengthInUtf8(text, member) > MAX_KEY_BYTES) {
      throw CheckRefusedException.badRequest(
          member + ": must be at most " + MAX_KEY_BYTES + " bytes of UTF-8");
    }
  }

  /**
   * Two keys must never share a counter, and an unpaired surrogate has no UTF-8 of its own: it
   * would be written as a question mark, like every other one.
   */
  private static int lengthInUtf8(String text, String member) {
    int bytes = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < 0x80) {
        bytes++;
      } else if (c < 0x800) {
        bytes += 2;
      } else if (!Character.isSurrogate(c)) {
        bytes += 3;
      } else if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        bytes += 4;
        i++;
      } else {
        throw CheckRefusedException.badRequest(member + ": is not well-formed Unicode");
      }
    }
    return bytes;
  }
}
