package dev.weir.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Flow;

/** Hears what a client is told to send. */
final class RequestText implements Flow.Subscriber<ByteBuffer> {

  private final BodySubscriber<String> text = BodySubscribers.ofString(UTF_8);

  private RequestText() {}

  /** All that {@code publisher} publishes, which has to be ready to be sent again. */
  static String of(BodyPublisher publisher) {
    RequestText hearer = new RequestText();
    publisher.subscribe(hearer);
    return hearer.text.getBody().toCompletableFuture().join();
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    text.onSubscribe(subscription);
  }

  @Override
  public void onNext(ByteBuffer bytes) {
    text.onNext(List.of(bytes));
  }

  @Override
  public void onError(Throwable failure) {
    text.onError(failure);
  }

  @Override
  public void onComplete() {
    text.onComplete();
  }
}
