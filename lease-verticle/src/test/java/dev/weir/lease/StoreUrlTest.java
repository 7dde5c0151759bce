package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.lease.StoreUrl.Address;
import dev.weir.lease.StoreUrl.Cluster;
import dev.weir.lease.StoreUrl.Credentials;
import dev.weir.lease.StoreUrl.Embedded;
import dev.weir.lease.StoreUrl.Sentinel;
import dev.weir.lease.StoreUrl.Standalone;
import dev.weir.lease.StoreUrl.Tls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class StoreUrlTest {
  private static final Optional<Credentials> ACME = Optional.of(new Credentials("acme", "s3cret"));

  private static final Optional<Tls> PLAIN = Optional.empty();
  private static final Optional<Tls> OF_JVM = Optional.of(Tls.OF_JVM);

  @Test
  void readsEveryForm() {
    assertThat(StoreUrl.parse("embedded")).isEqualTo(new Embedded());
    assertThat(StoreUrl.parse("redis://db:7000"))
        .isEqualTo(new Standalone(new Address("db", 7000), PLAIN, Optional.empty(), 0));
    assertThat(StoreUrl.parse("redis://acme:s3cret@db:7000/3"))
        .isEqualTo(new Standalone(new Address("db", 7000), PLAIN, ACME, 3));
    assertThat(StoreUrl.parse("rediss://acme:s3cret@[::1]"))
        .isEqualTo(new Standalone(new Address("[::1]", 6379), OF_JVM, ACME, 0));
    assertThat(StoreUrl.parse("redis-cluster://acme:s3cret@a:1,b:2"))
        .isEqualTo(new Cluster(List.of(new Address("a", 1), new Address("b", 2)), PLAIN, ACME));
    assertThat(StoreUrl.parse("redis-sentinel://a:1,b/mymaster"))
        .isEqualTo(
            new Sentinel(
                List.of(new Address("a", 1), new Address("b", 26379)),
                "mymaster",
                PLAIN,
                Optional.empty()));
  }

  @Test
  void readsEveryFormWithTls(@TempDir Path directory) throws IOException {
    Path ca = Files.createFile(directory.resolve("the ca&.pem"));
    Path own = Files.createFile(directory.resolve("own.pem"));
    String query = "cacert=" + directory + "/the%20ca%26.pem";
    Tls trusting = new Tls(Optional.of(ca), Optional.empty());
    Tls proving = new Tls(Optional.of(ca), Optional.of(new Tls.Identity(own, own)));
    assertThat(StoreUrl.parse("rediss://acme:s3cret@db:7000/3?" + query))
        .isEqualTo(new Standalone(new Address("db", 7000), Optional.of(trusting), ACME, 3));
    assertThat(StoreUrl.parse("rediss-cluster://a:1?" + query + "&cert=" + own + "&key=" + own))
        .isEqualTo(
            new Cluster(List.of(new Address("a", 1)), Optional.of(proving), Optional.empty()));
    assertThat(StoreUrl.parse("rediss-sentinel://a:1/mymaster"))
        .isEqualTo(
            new Sentinel(List.of(new Address("a", 1)), "mymaster", OF_JVM, Optional.empty()));
  }

  @Test
  void refusesFilesThatAreNotThere(@TempDir Path directory) {
    assertThatThrownBy(() -> StoreUrl.parse("rediss://db:1?cacert=" + directory.resolve("none")))
        .hasMessageMatching("cacert must be a file that can be read, was '.*none'");
    assertThatThrownBy(() -> StoreUrl.parse("rediss://db:1?cacert=" + directory))
        .hasMessageStartingWith("cacert must be a file that can be read");
    assertThatThrownBy(() -> StoreUrl.parse("rediss://db:1?cert=/etc/hosts"))
        .hasMessage("cert and key go together");
  }

  @Test
  void readsPercentEncodedCredentials() {
    assertThat(StoreUrl.parse("redis://:p%40%3A%2f+s@db:1"))
        .isEqualTo(
            new Standalone(
                new Address("db", 1), PLAIN, Optional.of(new Credentials("", "p@:/+s")), 0));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://acme:s3cret@db:7000/3",
        "rediss://acme:s3cret@db:7000",
        "redis-cluster://acme:s3cret@a:1,b:2",
        "redis-sentinel://acme:s3cret@a:1,b:2/mymaster",
        "rediss-cluster://acme:s3cret@a:1,b:2",
        "rediss-sentinel://acme:s3cret@a:1,b:2/mymaster"
      })
  void noTextTellsThePassword(String url) {
    assertThat(StoreUrl.parse(url).toString()).contains("acme:***@").doesNotContain("s3cret");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "db:7000",
        "http://acme:s3cret@db:7000",
        "redis://",
        "redis://acme:s3cret@",
        "redis://acme:s3cret@:7000",
        "redis://acme:s3cret@db:0",
        "redis://acme:s3cret@db:65536",
        "redis://acme:s3cret@db:port",
        "redis://acme:s3cret@db:1/x",
        "redis://acme:s3cret@db:1/-1",
        "redis://acme:s3cret@db:1?x=y",
        "redis://acme:s3cret@my_db:1",
        "redis://acme:s3cret%zz@db:1",
        "redis://s3cret@db:1",
        "redis://acme:s3cret@a:1,b:2",
        "redis-cluster://acme:s3cret@a:1,",
        "redis-cluster://acme:s3cret@a:1/0",
        "redis-sentinel://acme:s3cret@a:1",
        "redis-sentinel://acme:s3cret@a:1/",
        "redis://acme:s3cret@db:1?cacert=/etc/hosts",
        "rediss://acme:s3cret@db:1?x=y",
        "rediss://acme:s3cret@db:1?",
        "rediss://acme:s3cret@db:1?cacert",
        "rediss://acme:s3cret@db:1?cacert=%zz",
        "rediss://acme:s3cret@db:1?cacert=/etc/hosts&cacert=/etc/hosts",
        "rediss-x://acme:s3cret@db:1"
      })
  void refusesTheRestInOneLineWithoutThePassword(String url) {
    assertThatThrownBy(() -> StoreUrl.parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasNoCause()
        .message()
        .isNotEmpty()
        .doesNotContain("s3cret", "\n");
  }
}
