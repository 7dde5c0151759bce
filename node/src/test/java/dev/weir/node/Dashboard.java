package dev.weir.node;

import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.stream.Stream;

/** The dashboard of Grafana. */
final class Dashboard {

  private static final JsonObject DASHBOARD = new JsonObject(DeployFiles.text("grafana/weir.json"));

  private Dashboard() {}

  /** Its queries in PromQL, with what Grafana puts in the place of its variables. */
  static List<String> queries() {
    return panels()
        .flatMap(panel -> DeployFiles.objects(panel.getJsonArray("targets")))
        .map(target -> target.getString("expr"))
        .map(query -> query.replace("$__rate_interval", "1m").replace("$instance", ".*"))
        .toList();
  }

  static List<Integer> panelIds() {
    return panels().map(panel -> panel.getInteger("id")).toList();
  }

  private static Stream<JsonObject> panels() {
    return DeployFiles.objects(DASHBOARD.getJsonArray("panels"));
  }
}
