package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;

/** Holds the map to a list that is looked through from end to end. */
final class ExpiringMapPropertyTest {

  private sealed interface Step {}

  private record Put(int key, int places, int lifeMillis) implements Step {}

  private record Replace(int key, int places) implements Step {}

  private record Remove(int key) implements Step {}

  private record Get(int key) implements Step {}

  private record Wait(int millis) implements Step {}

  /** What an entry should be. */
  private record Kept(int places, double expiresMillis) {}

  @Provide
  Arbitrary<List<Step>> histories() {
    Arbitrary<Integer> keys = Arbitraries.integers().between(0, 30);
    Arbitrary<Integer> places = Arbitraries.integers().between(1, 5);
    Arbitrary<Integer> millis = Arbitraries.integers().between(1, 100);
    Arbitrary<Step> put = Combinators.combine(keys, places, millis).as(Put::new);
    return Arbitraries.frequencyOf(
            Tuple.of(8, put),
            Tuple.of(1, Combinators.combine(keys, places).as(Replace::new)),
            Tuple.of(1, keys.map(Remove::new)),
            Tuple.of(6, keys.map(Get::new)),
            Tuple.of(2, millis.map(Wait::new)))
        .list()
        .ofMaxSize(200);
  }

  @Property
  void whatExpiresSoonestMakesRoomAndNothingElseGoesBeforeItsTime(
      @ForAll @IntRange(min = 1, max = 20) int most, @ForAll("histories") List<Step> steps) {
    History history = new History(most);
    steps.forEach(history::run);
  }

  private static final class History {
    private final int most;
    private final ExpiringMap<Integer, Integer> map;
    private final Map<Integer, Kept> kept = new HashMap<>();
    private final List<Integer> dropped = new ArrayList<>();
    private long now;

    History(int most) {
      this.most = most;
      this.map =
          new ExpiringMap<>(most, (key, places) -> places, (key, places) -> dropped.add(key));
    }

    void run(Step step) {
      dropped.clear();
      List<Integer> expected = new ArrayList<>();
      if (step instanceof Put put) {
        double expires = now + (double) put.lifeMillis + put.key / 100.0;
        map.put(put.key, put.places, expires, now);
        kept.put(put.key, new Kept(put.places, expires));
        while (taken() > most && kept.size() > 1) {
          int soonest = soonestBut(put.key);
          kept.remove(soonest);
          expected.add(soonest);
        }
      } else if (step instanceof Replace replace) {
        map.replace(replace.key, replace.places);
        kept.computeIfPresent(replace.key, (key, of) -> new Kept(replace.places, of.expiresMillis));
      } else if (step instanceof Remove remove) {
        map.remove(remove.key);
        kept.remove(remove.key);
      } else if (step instanceof Wait wait) {
        now += wait.millis;
        kept.values().removeIf(of -> of.expiresMillis <= now);
      } else if (step instanceof Get get) {
        Optional<Integer> places = Optional.ofNullable(kept.get(get.key)).map(Kept::places);
        assertThat(map.get(get.key, now)).isEqualTo(places);
      }
      assertThat(dropped).as("dropped after %s", step).isEqualTo(expected);
    }

    private int soonestBut(int latest) {
      return kept.keySet().stream()
          .filter(key -> key != latest)
          .min(Comparator.comparingDouble(key -> kept.get(key).expiresMillis))
          .orElseThrow();
    }

    private int taken() {
      return kept.values().stream().mapToInt(Kept::places).sum();
    }
  }
}
