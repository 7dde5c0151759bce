package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.redis.client.impl.ZModem;
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

  @Example
  void anEmptyMapServesNothing() {
    assertThat(SlotMap.EMPTY.masters()).isEmpty();
    assertThat(SlotMap.EMPTY.master(0)).isEmpty();
  }
}
