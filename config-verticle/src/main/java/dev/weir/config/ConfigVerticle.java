package dev.weir.config;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;

/**
 * Brings a node its configuration and tells it who else is there. Deploy one instance; both are to
 * be had from it once the deployment has succeeded.
 */
public final class ConfigVerticle extends VerticleBase {

  private final PlansFile seed;
  private volatile Configuration configuration;
  private volatile Membership membership;

  private ConfigVerticle(PlansFile seed) {
    this.seed = seed;
  }

  /** Of a node that shares its configuration with nobody. */
  public static ConfigVerticle alone(PlansFile seed) {
    return new ConfigVerticle(seed);
  }

  @Override
  public Future<?> start() {
    configuration = new LocalConfiguration(seed);
    membership = new SoleMembership();
    return Future.succeededFuture();
  }

  /**
   * The configuration in force here.
   *
   * @throws IllegalStateException if this verticle has not been deployed yet
   */
  public Configuration configuration() {
    return deployed(configuration);
  }

  /**
   * The live nodes, this one included.
   *
   * @throws IllegalStateException if this verticle has not been deployed yet
   */
  public Membership membership() {
    return deployed(membership);
  }

  private static <T> T deployed(T started) {
    if (started == null) {
      throw new IllegalStateException("the config verticle has not been deployed yet");
    }
    return started;
  }
}
