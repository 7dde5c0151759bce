package dev.weir.node;

import dev.weir.config.Clock;
import dev.weir.lease.StoreUrl;
import dev.weir.lease.Stores;
import dev.weir.lease.UsageReader;
import io.vertx.core.Vertx;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code weir usage}: prints what the nodes have used, for billing. */
final class UsageCommand implements Callable<Integer> {

  private static final String DEFAULT_GROUP = "weir";
  private static final int MAX_NAME = 100;

  private final Surroundings surroundings;
  private final SettingOptions settings;
  private final OptionSpec format =
      text("--format", "FORMAT", "jsonl (the default), a JSON object a line, or csv");
  private final OptionSpec follow =
      flag(
          "--follow",
          "Goes on until SIGTERM, and prints what comes; waits for a store that is away");
  private final OptionSpec untilIdle =
      flag(
          "--until-idle",
          "Goes on until all windows are sealed and printed; waits a minute for nodes that died");
  private final OptionSpec includeOpen =
      flag("--include-open", "Prints windows that are not sealed too, each time nodes report");
  private final OptionSpec from =
      text("--from", "TIME", "Only windows that begin then or later; a date or a time (RFC 3339)");
  private final OptionSpec to = text("--to", "TIME", "Only windows that begin before");
  private final OptionSpec key = text("--key", "KEY", "Only windows of this key");
  private final OptionSpec plan = text("--plan", "PLAN", "Only windows of this plan");
  private final OptionSpec group =
      text(
          "--group",
          "NAME",
          "Readers of a group share the records, each is printed by one of them (default "
              + DEFAULT_GROUP
              + ")");
  private final OptionSpec consumer =
      text(
          "--consumer",
          "NAME",
          "Name in the group; who comes again under the same goes on where it was (default: one of"
              + " its own)");

  private UsageCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
    this.settings =
        new SettingOptions(
            surroundings, List.of(SettingTable.STORE_URL, SettingTable.STORE_PREFIX));
  }

  static CommandSpec spec(Surroundings surroundings) {
    UsageCommand command = new UsageCommand(surroundings);
    CommandSpec spec = CommandSpec.wrapWithoutInspection(command);
    spec.usageMessage()
        .customSynopsis("weir usage [--format=FORMAT] [--follow | --until-idle] [OPTION]...")
        .description(
            "Prints what was used of each key and plan in each window, once the window is sealed,"
                + " and acknowledges what it has printed, so that it is printed once. Without"
                + " --follow and --until-idle it ends when it has printed what there is.",
            "With --from, --to, --key or --plan and without --group it only looks: it acknowledges"
                + " nothing, and prints what no reader has acknowledged yet.");
    for (OptionSpec option :
        List.of(
            command.format,
            command.follow,
            command.untilIdle,
            command.includeOpen,
            command.from,
            command.to,
            command.key,
            command.plan,
            command.group,
            command.consumer)) {
      spec.addOption(option);
    }
    command.settings.addTo(spec);
    return spec;
  }

  private static OptionSpec text(String name, String label, String description) {
    return OptionSpec.builder(name)
        .paramLabel(label)
        .type(String.class)
        .description(description)
        .build();
  }

  private static OptionSpec flag(String name, String description) {
    return OptionSpec.builder(name).type(boolean.class).arity("0").description(description).build();
  }

  @Override
  public Integer call() throws InterruptedException {
    try {
      Settings.StoreSettings store = settings.settings().store();
      if (store.url() instanceof StoreUrl.Embedded) {
        throw new SettingsRefusedException(
            List.of(
                "store.url: must be a Redis, was embedded, whose usage is in GET /usage/{key} of"
                    + " its node alone"));
      }
      return print(store, printing(), filter());
    } catch (SettingsRefusedException e) {
      e.errors().forEach(error -> surroundings.err().println("weir: " + error));
      return ExitCode.REFUSED;
    }
  }

  private int print(Settings.StoreSettings store, UsagePrinting.Mode mode, UsageFilter filter)
      throws InterruptedException {
    UsageFormat written = format();
    Optional<String> ofGroup = name("--group", group);
    Optional<String> ofConsumer = name("--consumer", consumer);
    Vertx vertx = Vertx.vertx();
    Clock clock = Clock.system();
    UsageReader reader =
        filter.isEmpty() || ofGroup.isPresent()
            ? Stores.openReader(
                store.url(),
                store.prefix(),
                ofGroup.orElse(DEFAULT_GROUP),
                ofConsumer.orElseGet(UsageCommand::ownName),
                ofConsumer.isEmpty(),
                vertx,
                clock)
            : Stores.openLookingReader(store.url(), store.prefix(), vertx, clock);
    UsagePrinting printing =
        new UsagePrinting(reader, written, filter, mode, isSet(includeOpen), surroundings, clock);
    try {
      return printing.run();
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().join();
    }
  }

  private UsagePrinting.Mode printing() {
    boolean following = isSet(follow);
    if (following && isSet(untilIdle)) {
      throw refused("--until-idle", "cannot be with --follow");
    }
    return following
        ? UsagePrinting.Mode.FOLLOW
        : isSet(untilIdle) ? UsagePrinting.Mode.UNTIL_IDLE : UsagePrinting.Mode.ONCE;
  }

  private static boolean isSet(OptionSpec flag) {
    return Boolean.TRUE.equals(flag.getValue());
  }

  private UsageFormat format() {
    String name = Optional.<String>ofNullable(format.getValue()).orElse("jsonl");
    return switch (name) {
      case "jsonl" -> UsageFormat.JSONL;
      case "csv" -> UsageFormat.CSV;
      default -> throw refused("--format", "must be jsonl or csv, was " + Quoted.of(name));
    };
  }

  private UsageFilter filter() {
    return new UsageFilter(
        time("--from", from),
        time("--to", to),
        Optional.ofNullable(key.getValue()),
        Optional.ofNullable(plan.getValue()));
  }

  private static Optional<Long> time(String name, OptionSpec option) {
    try {
      return Optional.<String>ofNullable(option.getValue()).map(UsageFilter::time);
    } catch (IllegalArgumentException e) {
      throw refused(name, e.getMessage());
    }
  }

  private static Optional<String> name(String name, OptionSpec option) {
    Optional<String> given = Optional.ofNullable(option.getValue());
    given
        .filter(text -> text.isEmpty() || text.length() > MAX_NAME)
        .ifPresent(
            text -> {
              throw refused(name, "must have 1 to " + MAX_NAME + " characters");
            });
    return given;
  }

  private static SettingsRefusedException refused(String name, String reason) {
    return new SettingsRefusedException(List.of(name + ": " + reason));
  }

  /** A name that no other process has, since two that shared one would print the same. */
  private static String ownName() {
    String host;
    try {
      host = InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      host = "unknown";
    }
    return String.format(
        Locale.ROOT, "%s-%d-%d", host, ProcessHandle.current().pid(), Clock.system().epochMillis());
  }
}
