package dev.weir.lease;

import com.github.dockerjava.api.DockerClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.images.RemoteDockerImage;
import org.testcontainers.utility.DockerImageName;

/** A Redis in a container, on the same port of this machine whenever it is started. */
final class RedisContainer implements RedisHost {
  private static final String IMAGE_SETTING = "WEIR_TEST_REDIS_IMAGE";
  private static final String DEFAULT_IMAGE = "redis:7-alpine";
  private static final int INNER_PORT = 6379;

  private static final class Docker {
    // Without any of these, Testcontainers would only search in vain, and log at length.
    private static final boolean ANSWERS =
        (System.getenv("DOCKER_HOST") != null
                || Stream.of(
                        Path.of("/var/run/docker.sock"),
                        Path.of(System.getProperty("user.home"), ".docker/run/docker.sock"),
                        Path.of(
                            Optional.ofNullable(System.getenv("XDG_RUNTIME_DIR")).orElse("/run"),
                            "docker.sock"))
                    .anyMatch(Files::exists))
            && !image().isEmpty()
            && hasImages();

    /** A Docker without a registry in reach is of no more use than none. */
    private static boolean hasImages() {
      try {
        return DockerClientFactory.instance().isDockerAvailable()
            && !new RemoteDockerImage(DockerImageName.parse(image())).get().isEmpty();
      } catch (RuntimeException e) {
        LoggerFactory.getLogger(RedisContainer.class)
            .warn("Redis runs without Docker: {}", e.getMessage());
        return false;
      }
    }
  }

  private final int port;
  private final GenericContainer<?> container;

  @SuppressWarnings("resource") // closed by close()
  RedisContainer(int port, List<String> arguments) {
    this.port = port;
    List<String> command = new ArrayList<>(List.of("redis-server", "--save", ""));
    command.addAll(List.of("--appendonly", "no", "--protected-mode", "no"));
    command.addAll(arguments);
    container =
        new GenericContainer<>(DockerImageName.parse(image()))
            .withExposedPorts(INNER_PORT)
            .withCommand(command.toArray(String[]::new))
            // Asking from within whether the port is open would take a shell and more in the image.
            .waitingFor(Wait.forLogMessage(".*Ready to accept connections.*", 1));
    container.setPortBindings(List.of(port + ":" + INNER_PORT));
  }

  private static String image() {
    return Optional.ofNullable(System.getProperty(IMAGE_SETTING, System.getenv(IMAGE_SETTING)))
        .orElse(DEFAULT_IMAGE);
  }

  /** Whether Docker is there and can run the image. */
  static boolean dockerAnswers() {
    return Docker.ANSWERS;
  }

  private DockerClient docker() {
    return container.getDockerClient();
  }

  @Override
  public String host() {
    return container.getHost();
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public void start() {
    if (container.getContainerId() == null) {
      container.start();
    } else {
      docker().startContainerCmd(container.getContainerId()).exec();
    }
  }

  @Override
  public boolean isAlive() {
    return container.isRunning();
  }

  @Override
  public void kill() {
    docker().killContainerCmd(container.getContainerId()).exec();
  }

  @Override
  public void suspend() {
    docker().pauseContainerCmd(container.getContainerId()).exec();
  }

  @Override
  public void resume() {
    docker().unpauseContainerCmd(container.getContainerId()).exec();
  }

  @Override
  public void close() {
    container.close();
  }

  @Override
  public String toString() {
    return container.getLogs();
  }
}
