package dev.weir.bench;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import java.util.function.Predicate;

/** What limits one key, for many: one of them for each in a map. */
final class PerKey<T> implements Contender {

  private final ConcurrentMap<String, T> limiters;
  private final Function<String, T> maker;
  private final Predicate<T> decision;

  PerKey(int keys, Function<String, T> maker, Predicate<T> decision) {
    this.limiters = new ConcurrentHashMap<>(keys);
    this.maker = maker;
    this.decision = decision;
  }

  @Override
  public Object decide(String key) {
    T limiter = limiters.get(key);
    return decision.test(limiter != null ? limiter : limiters.computeIfAbsent(key, maker));
  }
}
