package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
        assignments = assignments.without(key);
      } else {
        model.put(key, "plan-" + change);
        assignments = assignments.with(key, "plan-" + change);
      }
      assertThat(before).isEqualTo(modelBefore);
    }
    assertThat(assignments).isEqualTo(model).hasSameSizeAs(model).isEqualTo(KeyMap.of(model));
    assertThat(Map.copyOf(assignments)).isEqualTo(model);
  }

  @Test
  void aChangeThatChangesNothingGivesTheSameMap() {
    KeyMap<String> one = KeyMap.<String>none().with("a", "p");
    assertThat(one.with("a", "p")).isSameAs(one);
    assertThat(one.without("b")).isSameAs(one);
    assertThat(one.containsKey("b")).isFalse();
  }

  @Test
  void aHundredThousandChangesOneByOneAreAllThere() {
    KeyMap<String> assignments = KeyMap.<String>none();
    for (int i = 0; i < 100_000; i++) {
      assignments = assignments.with("key-" + i, "p" + i % 3);
    }
    assertThat(assignments.size()).isEqualTo(100_000);
    assertThat(assignments.get("key-99999")).isEqualTo("p0");
  }
}
