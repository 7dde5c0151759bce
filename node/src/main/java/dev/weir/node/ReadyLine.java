package dev.weir.node;

import java.util.Set;

/** What a node says when it answers: where, and a call to try. */
final class ReadyLine {

  private static final Set<String> EVERY_ADDRESS = Set.of("0.0.0.0", "::");

  private ReadyLine() {}

  static String of(Settings settings, int httpPort, int adminPort) {
    Settings.Http http = settings.http();
    Settings.Admin admin = settings.admin();
    String data = url(http.tls().isPresent(), http.host(), httpPort);
    String control = url(admin.tls().isPresent(), admin.host(), adminPort);
    String token = http.token().isPresent() ? "-H \"Authorization: Bearer $WEIR_HTTP_TOKEN\" " : "";
    return "weir ready %s admin %s store %s try: curl %s'%s/v1/check?key=demo'"
        .formatted(data, control, settings.store().url(), token, data);
  }

  /** As somebody on this machine can call it. */
  private static String url(boolean tls, String host, int port) {
    String named = EVERY_ADDRESS.contains(host) ? "127.0.0.1" : host;
    return (tls ? "https://" : "http://")
        + (named.indexOf(':') >= 0 ? "[" + named + "]" : named)
        + ":"
        + port;
  }
}
