package dev.weir.config;

import java.util.List;
import java.util.function.ToLongFunction;

/**
 * How requests that a gateway asks about become checks: where their key is, and which endpoint they
 * are to. Immutable.
 *
 * @param keys where the key is looked for, in this order; {@link KeySource.Address} is the last,
 *     named or not
 * @param rules of which the first that matches names the endpoint
 */
public record Gateway(List<KeySource> keys, List<GatewayRule> rules) {

  /** What is in force when nothing is said: {@code X-Api-Key}, bearer token, address; no rules. */
  public static final Gateway DEFAULT =
      new Gateway(
          List.of(
              new KeySource.Header("X-Api-Key"), new KeySource.Bearer(), new KeySource.Address()),
          List.of());

  /** Comes after every rule. */
  private static final int NO_RULE = Integer.MAX_VALUE;

  public Gateway {
    keys = List.copyOf(keys);
    rules = List.copyOf(rules);
  }

  /**
   * The endpoint of a request; empty if no rule matches. Where servers differ about what the path
   * means, it is that of the dearest meaning, among equals that of the earliest rule: what a client
   * gains by an odd path is never a discount.
   *
   * @param method of the request
   * @param target path or URI of the request, with or without a query, its bytes as characters of
   *     Latin-1
   * @param weight what an endpoint costs, the empty one too
   */
  public String endpointOf(String method, String target, ToLongFunction<String> weight) {
    if (rules.isEmpty()) {
      return "";
    }
    List<List<String>> readings = PathReadings.of(target);
    if (readings.isEmpty()) {
      return dearestOfAll(method, weight);
    }
    int dearest = ruleOf(method, readings.get(0));
    for (int i = 1; i < readings.size(); i++) {
      dearest = dearer(dearest, ruleOf(method, readings.get(i)), weight);
    }
    return endpointOf(dearest);
  }

  private String dearestOfAll(String method, ToLongFunction<String> weight) {
    int dearest = NO_RULE;
    for (int i = 0; i < rules.size(); i++) {
      if (rules.get(i).isFor(method)) {
        dearest = dearer(dearest, i, weight);
      }
    }
    return endpointOf(dearest);
  }

  private int dearer(int one, int other, ToLongFunction<String> weight) {
    if (one == other) {
      return one;
    }
    int compared =
        Long.compare(weight.applyAsLong(endpointOf(one)), weight.applyAsLong(endpointOf(other)));
    return compared == 0 ? Math.min(one, other) : compared > 0 ? one : other;
  }

  private int ruleOf(String method, List<String> path) {
    for (int i = 0; i < rules.size(); i++) {
      GatewayRule rule = rules.get(i);
      if (rule.isFor(method) && rule.matches(path)) {
        return i;
      }
    }
    return NO_RULE;
  }

  private String endpointOf(int rule) {
    return rule == NO_RULE ? "" : rules.get(rule).endpoint();
  }
}
