package dev.weir.client;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Optional;

/**
 * An address of IPv4 or IPv6. One that is IPv4 within IPv6 ({@code ::ffff:192.0.2.1}) is the IPv4
 * address: it is the same host, however it came. Immutable.
 */
public final class IpAddress {

  /** What one subscriber is commonly given of IPv6, and may choose any address from (RFC 6177). */
  private static final int SUBSCRIBER_BITS = 64;

  private static final int IPV4_BYTES = 4;

  private final byte[] bytes;

  private IpAddress(byte[] bytes) {
    this.bytes = bytes;
  }

  /**
   * The address that {@code literal} writes, without a port; a zone ({@code %eth0}) is left out.
   * Names are none, and are not looked up.
   */
  public static Optional<IpAddress> parse(String literal) {
    byte[] bytes = NetUtil.createByteArrayFromIpAddressString(literal);
    return bytes == null
        ? Optional.empty()
        : Optional.of(new IpAddress(inetAddress(bytes).getAddress()));
  }

  /** Whether it is one of IPv6. */
  public boolean isV6() {
    return bytes.length > IPV4_BYTES;
  }

  /** Length in bits: 32 or 128. */
  public int bits() {
    return bytes.length * Byte.SIZE;
  }

  /**
   * Whether both are of one kind and begin with the same bits.
   *
   * @param count how many, 0 to {@link #bits}
   */
  public boolean sharesFirstBits(IpAddress other, int count) {
    if (other.bytes.length != bytes.length) {
      return false;
    }
    int whole = count / Byte.SIZE;
    int rest = count % Byte.SIZE;
    return Arrays.equals(bytes, 0, whole, other.bytes, 0, whole)
        && (rest == 0 || (bytes[whole] ^ other.bytes[whole]) >> (Byte.SIZE - rest) == 0);
  }

  /** The one caller behind it: the address itself, or the /64 that one of IPv6 is in. */
  String subscriber() {
    if (!isV6()) {
      return toString();
    }
    byte[] masked = Arrays.copyOf(bytes, bytes.length);
    Arrays.fill(masked, SUBSCRIBER_BITS / Byte.SIZE, masked.length, (byte) 0);
    return new IpAddress(masked) + "/" + SUBSCRIBER_BITS;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof IpAddress address && Arrays.equals(bytes, address.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /** The usual text, for IPv6 that of RFC 5952. */
  @Override
  public String toString() {
    return NetUtil.toAddressString(inetAddress(bytes));
  }

  /** Folds IPv4 within IPv6 by itself. */
  private static InetAddress inetAddress(byte[] bytes) {
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
