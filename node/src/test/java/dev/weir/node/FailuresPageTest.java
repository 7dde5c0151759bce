package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What docs/failures.md says is proven, by tests that are there. */
final class FailuresPageTest {

  private static final int COLUMNS = 5;
  private static final Pattern CELL_END = Pattern.compile("\\s*\\|\\s*");
  private static final Pattern NAME = Pattern.compile("`(\\w+)`");

  @Test
  void everyFailureNamesTestsThatExist() throws IOException {
    Set<String> tests = tests();
    List<List<String>> rows = rows();
    assertThat(rows).hasSizeGreaterThan(10);
    assertThat(rows)
        .allSatisfy(
            row -> {
              assertThat(row).hasSize(COLUMNS).doesNotContain("");
              List<String> names =
                  NAME.matcher(row.get(COLUMNS - 1))
                      .results()
                      .map(found -> found.group(1))
                      .toList();
              assertThat(names).as("tests of %s", row).isNotEmpty();
              assertThat(tests).as("tests of %s", row).containsAll(names);
            });
  }

  /** The cells of each row below the table's head. */
  private static List<List<String>> rows() throws IOException {
    return Files.readAllLines(Repository.root().resolve("docs/failures.md")).stream()
        .filter(line -> line.startsWith("| "))
        .skip(1)
        .map(line -> line.substring(2, line.lastIndexOf('|')))
        .map(line -> CELL_END.splitAsStream(line).toList())
        .toList();
  }

  /** The names of all classes of tests of all modules. */
  private static Set<String> tests() throws IOException {
    try (Stream<Path> files = Files.walk(Repository.root())) {
      Pattern test = Pattern.compile(".*/src/test/java/.*/(\\w+)\\.java");
      return files
          .map(file -> test.matcher(file.toString()))
          .filter(found -> found.matches())
          .map(MatchResult.class::cast)
          .map(found -> found.group(1))
          .collect(Collectors.toSet());
    }
  }
}
