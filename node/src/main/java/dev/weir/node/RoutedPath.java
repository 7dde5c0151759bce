package dev.weir.node;

import io.vertx.core.http.HttpServerRequest;

/**
 * The path of a call as the router compares it, which takes no notice of a slash at the end. Who
 * looks at paths besides must not either, or the call comes through unseen.
 */
final class RoutedPath {

  private RoutedPath() {}

  static String of(HttpServerRequest request) {
    String path = request.path();
    return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }
}
