package dev.weir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdminTokensTest {

  private static final String ALICE = "alices-token-is-long-enough";
  private static final String DEPLOY = "ZGVwbG95OnRva2Vu:x#/+==";
  private static final Optional<Secret> NONE = Optional.empty();
  private static final Optional<Secret> REGIONS = Optional.of(new Secret("the-token-of-regions"));

  @Test
  void eachTokenIsItsOwners() {
    AdminTokens tokens =
        AdminTokens.parse(
            bytes("# who may\n\nalice: " + ALICE + "\n  deploy :" + DEPLOY + "  \r\n"),
            Optional.of(new Secret("s3cret")),
            NONE);

    assertThat(tokens.callerOf(ALICE)).contains(new Caller("alice"));
    assertThat(tokens.callerOf(DEPLOY)).contains(new Caller("deploy"));
    assertThat(tokens.callerOf("s3cret")).contains(Caller.ADMIN);
    for (String wrong : List.of("", "alice", ALICE + "x", ALICE.substring(1), " " + ALICE)) {
      assertThat(tokens.callerOf(wrong)).isEmpty();
    }
  }

  @Test
  void withoutAnyNoneIsAskedFor() {
    assertThat(AdminTokens.of(NONE).isEmpty()).isTrue();
    assertThat(AdminTokens.of(NONE).callerOf("")).isEmpty();
    assertThat(AdminTokens.of(Optional.of(new Secret("t"))).isEmpty()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "the-token-without-a-name-in-front | line 1: must be NAME: TOKEN",
        "two words: the-token-of-a-bad-name | line 1: the name must be 1 to 64 letters",
        "bob:                               | line 1: the token of 'bob' must have 16 characters",
        "bob: too-short-token               | line 1: the token of 'bob' must have 16 characters",
        "bob: the-token-with a-space-in-it  | line 1: the token of 'bob' must be printable ASCII",
        "anonymous: the-token-of-a-taken-name | line 1: the name 'anonymous' is taken",
        "merge: the-token-of-a-taken-name   | line 1: the name 'merge' is taken",
        "admin: the-token-of-a-taken-name   | line 1: the name 'admin' is taken",
        "bob: the-token-of-regions          | line 1: 'bob' has the region_token",
        "# nobody                           | there must be a token in it",
      })
  void whatIsWrongIsToldWithoutAToken(String file, String error) {
    Optional<Secret> own = Optional.of(new Secret("the-token-that-is-a-setting"));

    assertThat(errorsOf(file, own)).singleElement().asString().startsWith(error);
    assertThat(errorsOf(file, own).get(0)).doesNotContain("the-token", "too-short");
  }

  @Test
  void sixteenCharactersAreEnough() {
    assertThat(
            AdminTokens.parse(bytes("bob: 0123456789abcdef"), NONE, NONE)
                .callerOf("0123456789abcdef"))
        .contains(new Caller("bob"));
  }

  @Test
  void aNameOrATokenIsThereOnce() {
    String file =
        "alice: %s\nalice: %s\nbob: %s\ncarol: the-token-that-is-a-setting"
            .formatted(ALICE, DEPLOY, ALICE);

    assertThat(errorsOf(file, Optional.of(new Secret("the-token-that-is-a-setting"))))
        .containsExactly(
            "line 2: the name 'alice' is taken",
            "line 3: 'bob' has the token of 'alice'",
            "line 4: 'carol' has the token of 'admin'");
  }

  @Test
  void aFileMustBeText() {
    FileRefusedException refused =
        catchThrowableOfType(
            FileRefusedException.class,
            () -> AdminTokens.parse(new byte[] {'a', ':', (byte) 0xff}, NONE, NONE));
    assertThat(refused.errors()).containsExactly("is not UTF-8");
  }

  private static List<String> errorsOf(String file, Optional<Secret> own) {
    return catchThrowableOfType(
            FileRefusedException.class, () -> AdminTokens.parse(bytes(file), own, REGIONS))
        .errors();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
