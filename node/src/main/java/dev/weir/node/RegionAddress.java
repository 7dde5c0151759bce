package dev.weir.node;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Set;

/**
 * Where another region is asked for weight.
 *
 * @param region its name
 * @param controlPlane of one of its nodes, or of what stands before them: scheme, host and port
 */
public record RegionAddress(String region, URI controlPlane) {

  private static final Set<String> SCHEMES = Set.of("http", "https");

  /**
   * Reads {@code us=https://admin.us.example:8081}.
   *
   * @throws IllegalArgumentException with what the text must be
   */
  static RegionAddress parse(String text) {
    String[] parts = text.split("=", 2);
    if (parts.length == 2) {
      try {
        URI address = new URI(parts[1]);
        if (SCHEMES.contains(String.valueOf(address.getScheme()))
            && address.getHost() != null
            && address.getUserInfo() == null
            && (address.getPath().isEmpty() || address.getPath().equals("/"))
            && address.getQuery() == null
            && address.getFragment() == null) {
          return new RegionAddress(SettingParser.name(parts[0]), address);
        }
      } catch (URISyntaxException e) {
        // Refused below, as an address that is incomplete is.
      }
    }
    throw new IllegalArgumentException(
        "must be regions and their control planes such as us=https://admin.us:8081, joined by"
            + " commas");
  }
}
