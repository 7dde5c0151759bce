package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Shard;
import io.vertx.redis.client.impl.ZModem;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

final class SlotMapTest {

  @Example
  void slotsAreThoseOfTheSpecification() {
    assertThat(SlotMap.slotOf("123456789")).isEqualTo(0x31c3);
  }

  @Property
  void theSlotOfAKeyIsThatOfItsNames(@ForAll String key) {
    String escaped = StoreKeys.escape(key);
    assertThat(SlotMap.slotOf(escaped))
        .isEqualTo(ZModem.generate(new StoreKeys("weir").level(escaped, "default")));
  }

  @Property(tries = 200)
  void subCountersOfAnyKeyAreSpreadOverTheSlots(@ForAll String key) {
    for (int of : new int[] {4, 8, 16}) {
      List<Integer> quarters =
          Shard.all(of).counters().stream()
              .map(shard -> SlotMap.slotOf(StoreKeys.tag(key, shard)) / 4096)
              .toList();
      assertThat(quarters).as("of %s", of).contains(0, 1, 2, 3);
    }
  }

  @Example
  void anEmptyMapServesNothing() {
    assertThat(SlotMap.EMPTY.masters()).isEmpty();
    assertThat(SlotMap.EMPTY.master(0)).isEmpty();
  }
}
