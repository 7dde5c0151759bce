package dev.weir.node;

import io.vertx.core.json.JsonObject;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;

/** An HTTP answer of a node. */
record Answer(int status, HttpHeaders headers, String body) {

  static Answer of(HttpResponse<String> response) {
    return new Answer(response.statusCode(), response.headers(), response.body());
  }

  JsonObject json() {
    return new JsonObject(body);
  }

  /** The value of a header that must be there once. */
  String header(String name) {
    var values = headers.allValues(name);
    if (values.size() != 1) {
      throw new AssertionError(name + " is there " + values.size() + " times in " + this);
    }
    return values.get(0);
  }

  boolean hasHeader(String name) {
    return headers.firstValue(name).isPresent();
  }

  /** Whether the check was admitted; any answer but a yes or a no is an error of the test. */
  boolean admitted() {
    if (status != 200 && status != 429) {
      throw new AssertionError("neither allowed nor denied: " + this);
    }
    return status == 200;
  }

  boolean degraded() {
    return json().getBoolean("degraded");
  }

  long remaining() {
    return json().getLong("remaining");
  }
}
