package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsFileTest {

  @TempDir Path directory;
  private Path file;

  @BeforeEach
  void nameFile() {
    file = directory.resolve("weir.yaml");
  }

  @Test
  void sectionsScalarsAndListsAreReadAsTheirText() throws IOException {
    assertThat(
            read(
                """
                http: {host: 127.0.0.1, port: 0}
                store:
                  url: redis://127.0.0.1:6379
                  timeout: 7ms
                cluster:
                  enabled: on
                  members:
                    - a:5701
                    - b:5701
                max_keys: 0100
                tolerance: 0.05
                plans:
                """))
        .isEqualTo(
            Map.of(
                "http.host", "127.0.0.1",
                "http.port", "0",
                "store.url", "redis://127.0.0.1:6379",
                "store.timeout", "7ms",
                "cluster.enabled", "on",
                "cluster.members", "a:5701,b:5701",
                "max_keys", "0100",
                "tolerance", "0.05"));
  }

  @Test
  void anEmptyFileSaysNothing() throws IOException {
    assertThat(read("")).isEmpty();
    assertThat(read("# later\n")).isEmpty();
    assertThat(read("http:\n")).isEmpty();
  }

  @Test
  void unknownNamesAreToldWithTheirPathAndLine() throws IOException {
    Files.writeString(file, "http:\n  prot: 9090\nstor: {url: embedded}\n");
    SettingsReader reader = new SettingsReader();
    reader.add(SettingsFile.read(file));

    assertThat(catchThrowableOfType(SettingsRefusedException.class, reader::settings).errors())
        .containsExactly(
            "http.prot: is not a setting (from " + file + ", line 2)",
            "stor: is not a setting (from " + file + ", line 3)");
  }

  @Test
  void whatIsNotLaidOutAsSettingsIsToldWhole() throws IOException {
    assertThat(errors("store: embedded\nregion: {a: b}\nhttp: {port: 1, port: 2}\n? [a]\n: b\n"))
        .containsExactly(
            "store: must be a section, with names below it (from " + file + ", line 1)",
            "region: must be one value (from " + file + ", line 2)",
            "http.port: is there twice (from " + file + ", line 3)",
            "a setting's name must be a text (from " + file + ", line 4)");
    assertThat(errors("- a\n")).containsExactly(file + ": must hold settings by name");
  }

  @Test
  void whatIsNotYamlIsToldWithItsLine() throws IOException {
    assertThat(errors("http:\n  port: [\n"))
        .singleElement()
        .asString()
        .startsWith(file + ": line ")
        .contains("is not YAML")
        .hasLineCount(1);
    Files.write(file, new byte[] {'a', ':', ' ', (byte) 0xff});
    assertThat(errors()).containsExactly(file + ": is not UTF-8");
  }

  @Test
  void aFileThatIsNotThereIsToldByItsName() {
    assertThat(errors()).containsExactly(file + ": no such file");
    file = directory;
    assertThat(errors()).containsExactly(directory + ": cannot be read");
  }

  private Map<String, String> read(String yaml) throws IOException {
    Files.writeString(file, yaml);
    return SettingsFile.read(file).entrySet().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().text()));
  }

  private List<String> errors(String yaml) throws IOException {
    Files.writeString(file, yaml);
    return errors();
  }

  private List<String> errors() {
    return catchThrowableOfType(SettingsRefusedException.class, () -> SettingsFile.read(file))
        .errors();
  }
}
