package dev.weir.bench;

import io.vertx.core.json.JsonObject;

/** One thing that {@code weir bench} measures. */
interface Section {

  /** What it is known by on the command line. */
  String name();

  /** Measures it, and puts what came of it into {@code results}. */
  void measure(Effort effort, JsonObject results);
}
