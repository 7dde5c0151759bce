package dev.weir.decision;

import dev.weir.client.IpAddress;
import java.util.Optional;

/**
 * Addresses that share their first bits: {@code 10.0.0.0/8}, {@code fd00::/8}. Immutable.
 *
 * @param first any address of the block
 * @param bits how many bits its addresses share, from none to all
 */
public record AddressBlock(IpAddress first, int bits) {

  /** The bits before the IPv4 address in {@code ::ffff:192.0.2.1}. */
  private static final int MAPPED_BITS = 96;

  public AddressBlock {
    if (bits < 0 || bits > first.bits()) {
      throw new IllegalArgumentException("no " + bits + " bits in " + first);
    }
  }

  /**
   * The block that {@code text} writes: an address, a slash, and the number of bits.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static AddressBlock parse(String text) {
    int slash = text.indexOf('/');
    Optional<IpAddress> address =
        slash < 0 ? Optional.empty() : IpAddress.parse(text.substring(0, slash));
    String bits = text.substring(slash + 1);
    if (address.isEmpty() || !bits.matches("[0-9]{1,3}")) {
      throw new IllegalArgumentException("is no address block: " + text);
    }
    boolean mapped = !address.get().isV6() && text.indexOf(':') >= 0;
    return new AddressBlock(address.get(), Integer.parseInt(bits) - (mapped ? MAPPED_BITS : 0));
  }

  boolean contains(IpAddress address) {
    return first.sharesFirstBits(address, bits);
  }
}
