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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What docs/failures.md and docs/security.md say is proven, by tests that are there. */
final class FailuresPageTest {

  private static final int COLUMNS = 5;
  private static final Pattern CELL_END = Pattern.compile("\\s*\\|\\s*");
  private static final Pattern NAME = Pattern.compile("`(\\w+)`");

  @ParameterizedTest
  @CsvSource({"failures.md, failure", "security.md, threat"})
  void everyRowNamesTestsThatExist(String page, String head) throws IOException {
    Set<String> tests = tests();
    List<List<String>> rows = rows(page, head);
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

  /** The cells of each row of the table whose head begins with {@code head}. */
  private static List<List<String>> rows(String page, String head) throws IOException {
    return Files.readAllLines(Repository.root().resolve("docs").resolve(page)).stream()
        .dropWhile(line -> !line.startsWith("| " + head + " |"))
        .takeWhile(line -> line.startsWith("|"))
        .skip(2)
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
