package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DependenciesIT {

  private static final Path TARGET = Repository.root().resolve("node/target");

  @Test
  void theListOfWhatTheNodeIsMadeOfHasEveryLibraryThatIsBesideTheJar() throws IOException {
    JsonObject list = new JsonObject(Files.readString(TARGET.resolve("weir-sbom.json")));
    Stream<String> listed =
        list.getJsonArray("components").stream()
            .map(component -> (JsonObject) component)
            .map(
                library -> library.getString("name") + "-" + library.getString("version") + ".jar");

    try (Stream<Path> libraries = Files.list(TARGET.resolve("lib"))) {
      assertThat(libraries.map(library -> library.getFileName().toString()))
          .isNotEmpty()
          .isSubsetOf(listed.toList());
    }
  }
}
