package dev.weir.lease;

import io.vertx.core.VertxException;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Which master of a Redis Cluster serves which slot. Immutable.
 *
 * <p>See <a href="https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/">the
 * specification of Redis Cluster</a>.
 */
final class SlotMap {
  static final int SLOTS = 16_384;

  private static final int CRC16_XMODEM = 0x1021;

  static final SlotMap EMPTY = new SlotMap(new StoreUrl.Address[SLOTS]);

  private final StoreUrl.Address[] masters;

  private SlotMap(StoreUrl.Address[] masters) {
    this.masters = masters;
  }

  static Request question() {
    return Request.cmd(Command.CLUSTER).arg("SLOTS");
  }

  /**
   * Reads the reply to {@link #question}, {@code CLUSTER SLOTS}: ranges, each {@code [first, last,
   * [host, port, ...], replicas...]}.
   *
   * @param from who replied; a node that does not know its own host gives none
   */
  static SlotMap read(Response reply, StoreUrl.Address from) {
    if (reply.size() == 0) {
      throw VertxException.noStackTrace("the cluster serves no slots");
    }
    StoreUrl.Address[] masters = new StoreUrl.Address[SLOTS];
    for (Response range : reply) {
      Response master = range.get(2);
      String host = Optional.ofNullable(master.get(0)).map(Response::toString).orElse("");
      StoreUrl.Address address =
          new StoreUrl.Address(host.isEmpty() ? from.host() : host, master.get(1).toInteger());
      Arrays.fill(masters, range.get(0).toInteger(), range.get(1).toInteger() + 1, address);
    }
    return new SlotMap(masters);
  }

  /** The slot of a hash tag: CRC16 of it. */
  static int slotOf(String hashTag) {
    int crc = 0;
    for (byte b : hashTag.getBytes(StandardCharsets.UTF_8)) {
      crc ^= (b & 0xff) << 8;
      for (int bit = 0; bit < 8; bit++) {
        crc = (crc & 0x8000) != 0 ? (crc << 1) ^ CRC16_XMODEM : crc << 1;
      }
    }
    return crc & (SLOTS - 1);
  }

  /** Found by trial: some hash tag of each slot, that no key has. */
  private static final class Tags {
    private static final String[] OF_SLOTS = new String[SLOTS];

    static {
      int found = 0;
      for (int trial = 0; found < SLOTS; trial++) {
        String tag = StoreKeys.EPOCH_TAG + trial;
        int slot = slotOf(tag);
        if (OF_SLOTS[slot] == null) {
          OF_SLOTS[slot] = tag;
          found++;
        }
      }
    }
  }

  /** A hash tag of {@code slot} that no key has. The first call takes some 50 ms. */
  static String tagOf(int slot) {
    return Tags.OF_SLOTS[slot];
  }

  Optional<StoreUrl.Address> master(int slot) {
    return Optional.ofNullable(masters[slot]);
  }

  Set<StoreUrl.Address> masters() {
    Set<StoreUrl.Address> distinct = new LinkedHashSet<>(Arrays.asList(masters));
    distinct.removeIf(Objects::isNull);
    return distinct;
  }
}
