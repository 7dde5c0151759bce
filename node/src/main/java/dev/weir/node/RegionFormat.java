package dev.weir.node;

import dev.weir.config.RegionQuestion;
import dev.weir.config.RegionQuestion.Need;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;

/** What regions say to each other, as JSON. */
final class RegionFormat {

  static final String REGION = "region";
  static final String GIVEN = "given";

  private static final String PLANS = "plans";
  private static final String WEIGHT = "weight";
  private static final String DEMAND = "demand";
  private static final String RECEIVED = "received";

  private RegionFormat() {}

  static JsonObject format(RegionQuestion question) {
    JsonObject plans = new JsonObject();
    question
        .plans()
        .forEach(
            (plan, need) ->
                plans.put(
                    plan, new JsonObject().put(WEIGHT, need.weight()).put(DEMAND, need.demand())));
    return new JsonObject()
        .put(REGION, question.region())
        .put(PLANS, plans)
        .put(RECEIVED, totals(question.received()));
  }

  /** Reads what {@link #format} wrote, and the API's document allows. */
  static RegionQuestion question(JsonObject json) {
    JsonObject plans = json.getJsonObject(PLANS);
    Map<String, Need> needs = new HashMap<>();
    for (String plan : plans.fieldNames()) {
      JsonObject need = plans.getJsonObject(plan);
      needs.put(plan, new Need(need.getLong(WEIGHT), need.getDouble(DEMAND)));
    }
    return new RegionQuestion(json.getString(REGION), needs, totals(json.getJsonObject(RECEIVED)));
  }

  static JsonObject totals(Map<String, Long> totals) {
    JsonObject json = new JsonObject();
    totals.forEach(json::put);
    return json;
  }

  /** Leaves out what is no total. */
  static Map<String, Long> totals(JsonObject json) {
    Map<String, Long> totals = new HashMap<>();
    json.forEach(
        each -> {
          if (each.getValue() instanceof Number total && total.longValue() >= 0) {
            totals.put(each.getKey(), total.longValue());
          }
        });
    return totals;
  }
}
