package dev.weir.node;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control plane of another region. Used on one event loop, but for what meters read.
 *
 * <p>One call is under way at a time, none takes longer than {@value #DEADLINE_SECONDS} s, and no
 * answer more memory than {@value #MAX_BYTES} bytes.
 */
final class RegionPeer {

  static final long DEADLINE_SECONDS = 4;

  static final int MAX_BYTES = 1 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(RegionPeer.class);
  private static final String PATH = "/regions/exchange";

  private final HttpClient client;
  private final RegionAddress address;
  private final Secret token;
  private boolean asking;
  private volatile Optional<Boolean> answered = Optional.empty();

  RegionPeer(HttpClient client, RegionAddress address, Secret token) {
    this.client = client;
    this.address = address;
    this.token = token;
  }

  String region() {
    return address.region();
  }

  /** Whether it answered when it was last asked from here; empty if it never was. Any thread. */
  Optional<Boolean> answered() {
    return answered;
  }

  /** Whether the call before has yet to end. */
  boolean asking() {
    return asking;
  }

  /** The answer to {@code question}; fails if there is none in time, or it is no answer. */
  Future<JsonObject> ask(JsonObject question) {
    asking = true;
    RequestOptions options =
        new RequestOptions()
            .setMethod(HttpMethod.POST)
            .setAbsoluteURI(address.controlPlane().resolve(PATH).toString())
            .setConnectTimeout(TimeUnit.SECONDS.toMillis(DEADLINE_SECONDS))
            .setTimeout(TimeUnit.SECONDS.toMillis(DEADLINE_SECONDS))
            .putHeader(HttpHeaders.AUTHORIZATION, "Bearer " + token.text())
            .putHeader(HttpHeaders.CONTENT_TYPE, "application/json");
    return client
        .request(options)
        .compose(request -> request.send(question.toBuffer()))
        .compose(RegionPeer::read)
        .timeout(DEADLINE_SECONDS, TimeUnit.SECONDS)
        .onComplete(
            outcome -> {
              asking = false;
              note(outcome.succeeded() ? "" : String.valueOf(outcome.cause().getMessage()));
            });
  }

  private static Future<JsonObject> read(HttpClientResponse response) {
    Promise<JsonObject> read = Promise.promise();
    Buffer body = Buffer.buffer();
    response
        .handler(
            part -> {
              if (body.length() + part.length() > MAX_BYTES) {
                read.tryFail("an answer of more than " + MAX_BYTES + " bytes");
                response.request().reset();
              } else {
                body.appendBuffer(part);
              }
            })
        .exceptionHandler(read::tryFail)
        .endHandler(
            end -> {
              if (response.statusCode() != 200) {
                read.tryFail("status " + response.statusCode());
                return;
              }
              try {
                read.tryComplete(body.toJsonObject());
              } catch (DecodeException | ClassCastException e) {
                read.tryFail("an answer that is no JSON object");
              }
            });
    return read.future();
  }

  /** Says so when it goes and when it is back, and not in between. */
  private void note(String failure) {
    Optional<Boolean> now = Optional.of(failure.isEmpty());
    if (now.equals(answered)) {
      return;
    }
    answered = now;
    if (failure.isEmpty()) {
      LOG.info("region {} answers", region());
    } else {
      LOG.warn(
          "region {} does not answer, weights stay as they are: {}",
          region(),
          Quoted.printable(failure));
    }
  }
}
