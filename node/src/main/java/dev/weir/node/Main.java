package dev.weir.node;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command {@code weir}. */
public final class Main {

  private static final String UNPACKAGED = "(not packaged)";

  private Main() {}

  /** Runs the command of {@code args} and ends the process with its exit code. */
  public static void main(String[] args) {
    Surroundings surroundings =
        new Surroundings(
            new PrintWriter(System.out, true, StandardCharsets.UTF_8),
            new PrintWriter(System.err, true, StandardCharsets.UTF_8),
            System.getenv(),
            Path.of(""));
    System.exit(run(surroundings, args));
  }

  /** Runs the command of {@code args} and gives its exit code. */
  static int run(Surroundings surroundings, String... args) {
    CommandSpec spec =
        described(CommandSpec.wrapWithoutInspection(null), "weir")
            .addSubcommand("start", described(StartCommand.spec(surroundings), "start"))
            .addSubcommand(
                "check-config", described(CheckConfigCommand.spec(surroundings), "check-config"))
            .addSubcommand("usage", described(UsageCommand.spec(surroundings), "usage"))
            .addSubcommand("bench", described(BenchCommand.spec(surroundings), "bench"));
    spec.usageMessage().description("A distributed rate limiter that customers can be billed on.");
    return new CommandLine(spec)
        .setOut(surroundings.out())
        .setErr(surroundings.err())
        .setExpandAtFiles(false)
        .setUsageHelpAutoWidth(true)
        .setParameterExceptionHandler((e, given) -> refuse(surroundings, e))
        .setExecutionStrategy(Main::execute)
        .execute(args);
  }

  private static CommandSpec described(CommandSpec spec, String name) {
    return spec.name(name).mixinStandardHelpOptions(true).version("weir " + version());
  }

  private static String version() {
    String version = Main.class.getPackage().getImplementationVersion();
    return version == null ? UNPACKAGED : version;
  }

  private static int execute(CommandLine.ParseResult parsed) {
    if (!parsed.hasSubcommand()) {
      Integer helped = CommandLine.executeHelpRequest(parsed);
      if (helped != null) {
        return helped;
      }
      parsed.commandSpec().commandLine().usage(parsed.commandSpec().commandLine().getErr());
      return ExitCode.REFUSED;
    }
    return new CommandLine.RunLast().execute(parsed);
  }

  /** One line, without what may be a token behind a mistyped option's name. */
  private static int refuse(Surroundings surroundings, ParameterException e) {
    String line =
        e instanceof UnmatchedArgumentException unmatched
            ? unknown(unmatched.getUnmatched())
            : e.getMessage().lines().findFirst().orElse("");
    surroundings.err().println("weir: " + line);
    return ExitCode.REFUSED;
  }

  private static String unknown(List<String> arguments) {
    String first = arguments.get(0).split("=", 2)[0];
    String what = first.startsWith("-") ? "option" : "command";
    return "there is no " + what + " " + Quoted.of(first) + "; see --help";
  }
}
