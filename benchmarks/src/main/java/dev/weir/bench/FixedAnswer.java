package dev.weir.bench;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a server answers, whatever it is asked.
 *
 * @param headers in their order
 */
record FixedAnswer(List<Map.Entry<String, String>> headers, Buffer body) {

  FixedAnswer {
    headers = List.copyOf(headers);
  }

  JsonObject toJson() {
    JsonArray names = new JsonArray();
    headers.forEach(
        header -> names.add(new JsonArray().add(header.getKey()).add(header.getValue())));
    return new JsonObject().put("headers", names).put("body", body.toString());
  }

  static FixedAnswer fromJson(JsonObject json) {
    List<Map.Entry<String, String>> headers = new ArrayList<>();
    for (Object header : json.getJsonArray("headers")) {
      JsonArray pair = (JsonArray) header;
      headers.add(Map.entry(pair.getString(0), pair.getString(1)));
    }
    return new FixedAnswer(headers, Buffer.buffer(json.getString("body")));
  }
}
