package dev.weir.lease;

import static dev.weir.lease.StoreFailure.Kind.ACCESS_REFUSED;
import static dev.weir.lease.StoreFailure.Kind.CALL_FAILED;
import static dev.weir.lease.StoreFailure.Kind.CONNECTION_LOST;
import static dev.weir.lease.StoreFailure.Kind.ELSEWHERE;
import static dev.weir.lease.StoreFailure.Kind.SCRIPT_MISSING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.vertx.redis.client.impl.types.ErrorType;
import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class StoreFailureTest {

  static Stream<Arguments> errorsOfRedis() {
    return Stream.of(
        arguments("NOSCRIPT No matching script. Please use EVAL.", SCRIPT_MISSING, true),
        arguments("READONLY You can't write against a read only replica.", CONNECTION_LOST, true),
        arguments(
            "READONLY You can't write against a read only replica. script: 1f, on @user_script:9.",
            CONNECTION_LOST,
            true),
        arguments(
            "ERR Error running script (call to f_1f): @user_script:9: @user_script: 9: -READONLY"
                + " You can't write against a read only replica.",
            CONNECTION_LOST,
            true),
        arguments("LOADING Redis is loading the dataset in memory", CONNECTION_LOST, true),
        arguments("MASTERDOWN Link with MASTER is down", CONNECTION_LOST, true),
        arguments("CONNECTION_CLOSED", CONNECTION_LOST, false),
        arguments("NOAUTH Authentication required.", ACCESS_REFUSED, true),
        arguments("WRONGPASS invalid username-password pair", ACCESS_REFUSED, true),
        arguments("NOPERM this user has no permissions", ACCESS_REFUSED, true),
        arguments("ERR AUTH <password> called without any password", ACCESS_REFUSED, true),
        arguments("ERR invalid password", ACCESS_REFUSED, true),
        arguments("BUSY Redis is busy running a script.", CALL_FAILED, true),
        arguments("MISCONF Redis is configured to save RDB snapshots", CALL_FAILED, true),
        arguments("MOVED 3999 127.0.0.1:6381", ELSEWHERE, true),
        arguments("ASK 3999 127.0.0.1:6381", ELSEWHERE, true),
        arguments("TRYAGAIN Multiple keys request during rehashing", CALL_FAILED, true),
        arguments("CLUSTERDOWN The cluster is down", ELSEWHERE, true),
        arguments("OOM command not allowed when used memory > 'maxmemory'.", CALL_FAILED, false),
        arguments("ERR something else, for example about READONLY", CALL_FAILED, false),
        arguments("", CALL_FAILED, false));
  }

  @ParameterizedTest
  @MethodSource("errorsOfRedis")
  void readsErrorsOfRedis(String message, StoreFailure.Kind kind, boolean unsent) {
    StoreFailure failure = StoreFailure.of(ErrorType.create(message));
    assertThat(failure.kind()).isEqualTo(kind);
    assertThat(failure.unsent()).isEqualTo(unsent);
  }

  @Test
  void anErrorOfTheConnectionLeavesTheOutcomeUnknown() {
    assertThat(StoreFailure.of(new IOException("Connection reset by peer\nmore")))
        .isEqualTo(new StoreFailure("Connection reset by peer", CONNECTION_LOST, false));
    assertThat(StoreFailure.of(new IOException()).reason()).isEqualTo("java.io.IOException");
  }

  @Test
  void theInnermostCauseIsTold() {
    Exception root = new Exception("No subject alternative names\nmore", new IOException());
    assertThat(StoreFailure.of(new IOException("no TLS", new Exception(root))).reason())
        .isEqualTo("no TLS");
    Exception named = new Exception("No subject alternative names\nmore");
    assertThat(StoreFailure.of(new IOException("no TLS", new Exception(named))).reason())
        .isEqualTo("no TLS: No subject alternative names");
    assertThat(StoreFailure.of(new IOException("refused: /a:1", new Exception("refused"))).reason())
        .isEqualTo("refused: /a:1");
    Exception circle = new Exception("first");
    circle.initCause(new Exception("second", circle));
    assertThat(StoreFailure.of(circle).reason()).startsWith("first");
  }

  @Test
  void whatIsRefusedByTheClientWasNotSent() {
    assertThat(StoreFailure.of(new Exception("Connection is closed")))
        .isEqualTo(new StoreFailure("Connection is closed", CONNECTION_LOST, true));
    assertThat(StoreFailure.of(new Exception("Redis waiting queue is full")))
        .isEqualTo(new StoreFailure("Redis waiting queue is full", CALL_FAILED, true));
  }
}
