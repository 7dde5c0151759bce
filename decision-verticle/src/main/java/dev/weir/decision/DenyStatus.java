package dev.weir.decision;

import dev.weir.client.CheckRefusedException;

/**
 * The status that a gateway wants for a denial, {@code ?deny=403}: some know only a few. None that
 * could be taken for an allowed request, or for a fault, can be had.
 */
final class DenyStatus {

  private static final String NAME = "deny=";
  private static final int USUAL = 429;

  private DenyStatus() {}

  /**
   * What {@code query} asks for, or 429.
   *
   * @param query as it stands in the request line; null for none
   * @param foreign whether it may be the query of the client, which means nothing by a strange
   *     {@code deny}
   * @throws CheckRefusedException with code 400 if it asks for what is no 4xx, or twice
   */
  static int read(String query, boolean foreign) {
    int status = 0;
    for (String pair : query == null ? new String[0] : query.split("&", -1)) {
      if (!pair.startsWith(NAME)) {
        continue;
      }
      String value = pair.substring(NAME.length());
      if (status != 0 || !value.matches("4[0-9]{2}")) {
        if (foreign) {
          return USUAL;
        }
        throw CheckRefusedException.badRequest("deny: must be one status from 400 to 499");
      }
      status = Integer.parseInt(value);
    }
    return status == 0 ? USUAL : status;
  }
}
