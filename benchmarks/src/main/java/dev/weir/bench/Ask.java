package dev.weir.bench;

import io.vertx.core.http.HttpMethod;
import java.util.List;

/**
 * What an HTTP server is asked, again and again.
 *
 * @param path with the query
 * @param bodies that are sent in turn; none makes it a GET, else it is a POST of JSON
 * @param connections that ask at once
 * @param pipelined requests under way on each of them
 */
record Ask(String path, List<String> bodies, int connections, int pipelined) {

  HttpMethod method() {
    return bodies.isEmpty() ? HttpMethod.GET : HttpMethod.POST;
  }
}
