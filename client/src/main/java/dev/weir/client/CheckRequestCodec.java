package dev.weir.client;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageCodec;
import io.vertx.core.json.JsonObject;

/** Hands a check on as it is within the process, and as JSON between processes. */
final class CheckRequestCodec implements MessageCodec<CheckRequest, CheckRequest> {

  @Override
  public void encodeToWire(Buffer buffer, CheckRequest request) {
    WireJson.append(buffer, CheckRequestJson.toJson(request));
  }

  @Override
  public CheckRequest decodeFromWire(int position, Buffer buffer) {
    JsonObject json = WireJson.read(position, buffer);
    return CheckRequestJson.fromJson(json);
  }

  @Override
  public CheckRequest transform(CheckRequest request) {
    return request;
  }

  @Override
  public String name() {
    return "weir.check-request";
  }

  @Override
  public byte systemCodecID() {
    return -1;
  }
}
