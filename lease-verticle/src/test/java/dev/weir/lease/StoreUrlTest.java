package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.lease.StoreUrl.Address;
import dev.weir.lease.StoreUrl.Cluster;
import dev.weir.lease.StoreUrl.Credentials;
import dev.weir.lease.StoreUrl.Embedded;
import dev.weir.lease.StoreUrl.Sentinel;
import dev.weir.lease.StoreUrl.Standalone;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class StoreUrlTest {
  private static final Optional<Credentials> ACME = Optional.of(new Credentials("acme", "s3cret"));

  @Test
  void readsEveryForm() {
    assertThat(StoreUrl.parse("embedded")).isEqualTo(new Embedded());
    assertThat(StoreUrl.parse("redis://db:7000"))
        .isEqualTo(new Standalone(new Address("db", 7000), false, Optional.empty(), 0));
    assertThat(StoreUrl.parse("redis://acme:s3cret@db:7000/3"))
        .isEqualTo(new Standalone(new Address("db", 7000), false, ACME, 3));
    assertThat(StoreUrl.parse("rediss://acme:s3cret@[::1]"))
        .isEqualTo(new Standalone(new Address("[::1]", 6379), true, ACME, 0));
    assertThat(StoreUrl.parse("redis-cluster://acme:s3cret@a:1,b:2"))
        .isEqualTo(new Cluster(List.of(new Address("a", 1), new Address("b", 2)), ACME));
    assertThat(StoreUrl.parse("redis-sentinel://a:1,b/mymaster"))
        .isEqualTo(
            new Sentinel(
                List.of(new Address("a", 1), new Address("b", 26379)),
                "mymaster",
                Optional.empty()));
  }

  @Test
  void readsPercentEncodedCredentials() {
    assertThat(StoreUrl.parse("redis://:p%40%3A%2f+s@db:1"))
        .isEqualTo(
            new Standalone(
                new Address("db", 1), false, Optional.of(new Credentials("", "p@:/+s")), 0));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://acme:s3cret@db:7000/3",
        "rediss://acme:s3cret@db:7000",
        "redis-cluster://acme:s3cret@a:1,b:2",
        "redis-sentinel://acme:s3cret@a:1,b:2/mymaster"
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
        "redis-sentinel://acme:s3cret@a:1/"
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
