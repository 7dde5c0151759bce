package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class KeyMapTest {

  @Property(tries = 100)
  void itIsWhatAHashMapIsAfterTheSameChanges(
      @ForAll @Size(max = 40) List<@IntRange(min = -50, max = 50) Integer> changes) {
    Map<String, String> model = new HashMap<>();
    KeyMap<String> assignments = KeyMap.<String>none();
    for (int change : changes) {
      String key = "key-" + Math.abs(change) % 20;
      KeyMap<String> before = assignments;
      Map<String, String> modelBefore = Map.copyOf(model);
      if (change < 0) {
        model.remove(key);
        assignments = assignments.changedBy(Map.of(key, Optional.empty()));
      } else {
        model.put(key, "plan-" + change);
        assignments = assignments.changedBy(Map.of(key, Optional.of("plan-" + change)));
      }
      assertThat(before).isEqualTo(modelBefore);
    }
    assertThat(assignments).isEqualTo(model).hasSameSizeAs(model).isEqualTo(KeyMap.of(model));
    assertThat(Map.copyOf(assignments)).isEqualTo(model);
  }

  @Property(tries = 100)
  void differencesMakeOneMapTheOther(
      @ForAll @Size(max = 20) Map<@IntRange(max = 30) Integer, @IntRange(max = 3) Integer> before,
      @ForAll @Size(max = 20) Map<@IntRange(max = 30) Integer, @IntRange(max = 3) Integer> after) {
    KeyMap<String> one = KeyMap.of(texts(before));
    KeyMap<String> other = KeyMap.of(texts(after));
    Map<String, Optional<String>> differences = one.differences(other);
    KeyMap<String> changed = one.changedBy(differences);
    assertThat(changed).isEqualTo(other).hasSameSizeAs(texts(after));
    assertThat(changed.differences(other)).isEmpty();
    assertThat(one).isEqualTo(texts(before));
    assertThat(changed.changedBy(differences)).isSameAs(changed);
  }

  private static Map<String, String> texts(Map<Integer, Integer> numbers) {
    Map<String, String> texts = new HashMap<>();
    numbers.forEach((key, value) -> texts.put("key-" + key, "plan-" + value));
    return texts;
  }

  @Test
  void aChangeThatChangesNothingGivesTheSameMap() {
    KeyMap<String> one = KeyMap.of(Map.of("a", "p"));
    assertThat(one.changedBy(Map.of("a", Optional.of("p"), "b", Optional.empty()))).isSameAs(one);
    assertThat(one.containsKey("b")).isFalse();
  }

  @Test
  void aHundredThousandChangesOneByOneAreAllThere() {
    KeyMap<String> assignments = KeyMap.<String>none();
    for (int i = 0; i < 100_000; i++) {
      assignments = assignments.changedBy(Map.of("key-" + i, Optional.of("p" + i % 3)));
    }
    assertThat(assignments.size()).isEqualTo(100_000);
    assertThat(assignments.get("key-99999")).isEqualTo("p0");
  }
}
