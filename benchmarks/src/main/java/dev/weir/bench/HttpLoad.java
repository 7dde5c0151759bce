package dev.weir.bench;

import java.time.Duration;

/** A client that asks an HTTP server as fast as it answers. */
interface HttpLoad extends AutoCloseable {

  /** What it is known by. */
  String name();

  /**
   * Asks for as long as {@code length}, or a little longer.
   *
   * @throws IllegalStateException if anything but 200 is answered
   */
  Load run(int port, Ask ask, Duration length);

  @Override
  void close();

  /** wrk if it is there, which takes little of the processors; else a client of Vert.x. */
  static HttpLoad best() {
    return Programs.find("wrk").<HttpLoad>map(Wrk::new).orElseGet(VertxHttpLoad::new);
  }
}
