package dev.weir.client;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;

/** JSON inside a message of the event bus: its length in four bytes, then the text. */
final class WireJson {

  private WireJson() {}

  static void append(Buffer buffer, JsonObject json) {
    Buffer text = json.toBuffer();
    buffer.appendInt(text.length()).appendBuffer(text);
  }

  static JsonObject read(int position, Buffer buffer) {
    int start = position + Integer.BYTES;
    return new JsonObject(buffer.getBuffer(start, start + buffer.getInt(position)));
  }
}
