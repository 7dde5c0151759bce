package dev.weir.lease;

import java.time.Duration;

final class EmbeddedStoreTest extends StoreContract {

  @Override
  StoreDriver open(String prefix) {
    return new StoreDriver(
        vertx,
        new EmbeddedStore(AccountingWindow.of(Duration.ofMinutes(1)), time, StoreDriver.ROOM));
  }
}
