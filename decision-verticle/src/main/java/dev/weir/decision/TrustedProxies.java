package dev.weir.decision;

import dev.weir.client.IpAddress;
import java.util.List;
import java.util.Optional;

/**
 * The proxies whose word on where a request came from is believed.
 *
 * <p>Every proxy adds the address that it was asked from at the right of {@code X-Forwarded-For}.
 * What is further left was there before, and anyone may have written it. So one goes from right to
 * left for as long as the address that one is at is that of a proxy; the first that is not is the
 * client.
 */
final class TrustedProxies {

  private final List<AddressBlock> blocks;

  TrustedProxies(List<AddressBlock> blocks) {
    this.blocks = List.copyOf(blocks);
  }

  /**
   * The client's address. What is no address ends the way: the client is then who said so.
   *
   * @param peer who has opened the connection
   * @param forwardedFor the values of {@code X-Forwarded-For} in their order
   */
  IpAddress clientOf(IpAddress peer, List<String> forwardedFor) {
    IpAddress client = peer;
    String hops = String.join(",", forwardedFor);
    int end = hops.length();
    while (end >= 0 && trusts(client)) {
      int comma = hops.lastIndexOf(',', end - 1);
      Optional<IpAddress> hop = hop(hops.substring(comma + 1, end).strip());
      if (hop.isEmpty()) {
        break;
      }
      client = hop.get();
      end = comma;
    }
    return client;
  }

  private boolean trusts(IpAddress address) {
    return blocks.stream().anyMatch(block -> block.contains(address));
  }

  /** An address as proxies write it: alone, with a port, or in brackets. */
  private static Optional<IpAddress> hop(String text) {
    String address = text;
    int lastColon = text.lastIndexOf(':');
    boolean withPort =
        lastColon > 0
            && (text.charAt(lastColon - 1) == ']' || text.indexOf(':') == lastColon)
            && text.substring(lastColon + 1).matches("[0-9]{1,5}");
    if (withPort) {
      address = text.substring(0, lastColon);
    }
    return IpAddress.parse(address);
  }
}
