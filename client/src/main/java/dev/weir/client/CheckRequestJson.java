package dev.weir.client;

import io.vertx.core.json.JsonObject;
import java.util.Map;

/**
 * A check as JSON: {@code {"key":"acme","endpoint":"search","cost":3,"plan":"gold","id":"7f"}},
 * everything but the key optional and nothing else allowed.
 */
public final class CheckRequestJson {

  private CheckRequestJson() {}

  /**
   * The check that {@code json} is.
   *
   * @throws CheckRefusedException with code 400 if {@code json} is not a check
   */
  public static CheckRequest fromJson(JsonObject json) {
    CheckRequestMembers members = new CheckRequestMembers();
    for (Map.Entry<String, Object> member : json.getMap().entrySet()) {
      members.put(member.getKey(), member.getValue());
    }
    return members.toRequest();
  }

  /** The check with the members that were given. */
  public static JsonObject toJson(CheckRequest request) {
    JsonObject json = new JsonObject().put("key", request.key());
    if (!request.endpoint().isEmpty()) {
      json.put("endpoint", request.endpoint());
    }
    if (request.cost() != CheckRequest.COST_OF_ENDPOINT) {
      json.put("cost", request.cost());
    }
    if (!request.plan().isEmpty()) {
      json.put("plan", request.plan());
    }
    if (!request.id().isEmpty()) {
      json.put("id", request.id());
    }
    return json;
  }
}
