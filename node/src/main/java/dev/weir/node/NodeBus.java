package dev.weir.node;

import dev.weir.config.Membership;
import dev.weir.config.NodeStatus;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a node ask all nodes of its cluster, itself included, over the event bus. Each has an
 * address of its own for every call, made of the address that it has in the cluster.
 */
final class NodeBus extends VerticleBase {

  static final long ANSWER_MILLIS = 2_000;

  private static final Logger LOG = LoggerFactory.getLogger(NodeBus.class);

  private final String self;
  private final Membership membership;
  private final Map<String, Function<JsonObject, JsonObject>> calls;

  /**
   * What came of a question.
   *
   * @param answers of the nodes that answered
   * @param silent addresses of those that did not in time
   */
  record Answers(List<JsonObject> answers, List<String> silent) {}

  /**
   * @param self the address of this node, as its status tells it
   * @param calls what this node answers, by name; called on this verticle's event loop
   */
  NodeBus(String self, Membership membership, Map<String, Function<JsonObject, JsonObject>> calls) {
    this.self = self;
    this.membership = membership;
    this.calls = Map.copyOf(calls);
  }

  /** Complete once every node can reach this one. */
  @Override
  public Future<?> start() {
    List<Future<Void>> reachable = new ArrayList<>();
    calls.forEach(
        (call, answer) -> {
          MessageConsumer<JsonObject> consumer =
              vertx.eventBus().consumer(address(self, call), message -> answer(message, answer));
          reachable.add(consumer.completion());
        });
    return Future.all(reachable);
  }

  /** Asks every node, and does not wait longer than {@value #ANSWER_MILLIS} ms for any. */
  Future<Answers> ask(String call, JsonObject question) {
    Map<String, Future<JsonObject>> asked = new TreeMap<>();
    asked.put(self, request(self, call, question));
    for (NodeStatus member : membership.members()) {
      asked.computeIfAbsent(member.address(), address -> request(address, call, question));
    }
    return Future.join(List.copyOf(asked.values()))
        .transform(
            joined -> {
              Answers answers = new Answers(new ArrayList<>(), new ArrayList<>());
              asked.forEach(
                  (address, answer) -> {
                    if (answer.succeeded()) {
                      answers.answers().add(answer.result());
                    } else {
                      LOG.warn("{} did not answer: {}", address, answer.cause().getMessage());
                      answers.silent().add(address);
                    }
                  });
              return Future.succeededFuture(answers);
            });
  }

  private Future<JsonObject> request(String node, String call, JsonObject question) {
    return vertx
        .eventBus()
        .<JsonObject>request(
            address(node, call), question, new DeliveryOptions().setSendTimeout(ANSWER_MILLIS))
        .map(Message::body);
  }

  private static void answer(Message<JsonObject> message, Function<JsonObject, JsonObject> answer) {
    try {
      message.reply(answer.apply(message.body()));
    } catch (RuntimeException e) {
      LOG.error("A call of another node failed", e);
      message.fail(500, "the fault is ours; it has been logged");
    }
  }

  private static String address(String node, String call) {
    return "weir.node." + call + "@" + node;
  }
}
