package dev.weir.node;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The arrows between the modules, and what plain logic must not know. */
@AnalyzeClasses(
    packages = "dev.weir",
    importOptions = {ImportOption.DoNotIncludeTests.class, ArchitectureTest.NoTestJars.class})
final class ArchitectureTest {

  /** Leaves out what modules share of their tests. */
  static final class NoTestJars implements ImportOption {
    @Override
    public boolean includes(Location location) {
      return !location.contains("-tests.jar");
    }
  }

  @ArchTest
  static final ArchRule modulesDependOnlyToTheLeft =
      layeredArchitecture()
          .consideringOnlyDependenciesInAnyPackage("dev.weir..")
          .layer("client")
          .definedBy("dev.weir.client")
          .layer("config")
          .definedBy("dev.weir.config")
          .layer("lease")
          .definedBy("dev.weir.lease")
          .layer("decision")
          .definedBy("dev.weir.decision")
          .layer("node")
          .definedBy("dev.weir.node")
          .whereLayer("node")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("decision")
          .mayOnlyBeAccessedByLayers("node")
          .whereLayer("lease")
          .mayOnlyBeAccessedByLayers("decision", "node")
          .whereLayer("config")
          .mayOnlyBeAccessedByLayers("lease", "decision", "node")
          .whereLayer("client")
          .mayOnlyBeAccessedByLayers("decision", "node")
          .ensureAllClassesAreContainedInArchitectureIgnoring("dev.weir.example..");

  @ArchTest
  static final ArchRule modulesHaveNoCycles =
      slices().matching("dev.weir.(*)..").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule clientNeedsVertxAlone =
      classes()
          .that()
          .resideInAPackage("dev.weir.client")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage("dev.weir.client", "java..", "io.vertx..", "io.netty.util..");

  @ArchTest
  static final ArchRule hazelcastIsKnownToTheConfigurationAndTheLauncher =
      noClasses()
          .that()
          .resideInAnyPackage("dev.weir.client", "dev.weir.lease", "dev.weir.decision")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("com.hazelcast..", "io.vertx.spi.cluster.hazelcast..");

  @ArchTest
  static final ArchRule redisIsKnownToTheLeaseModuleAlone =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.weir.lease")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.vertx.redis..");

  @ArchTest
  static final ArchRule timeComesFromTheClock =
      noClasses()
          .that(not(resideInAPackage("dev.weir.config").and(simpleName("SystemClock"))))
          .and(not(resideInAPackage("dev.weir.client").and(simpleName("WallClock"))))
          .should()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(Instant.class, "now")
          .orShould()
          .callMethod(Clock.class, "systemUTC")
          .orShould()
          .callMethod(Thread.class, "sleep", long.class)
          .orShould()
          .callMethod(Thread.class, "sleep", long.class, int.class)
          .orShould()
          .callMethod(TimeUnit.class, "sleep", long.class);

  /** What can be simulated without a network: sizing, levels, buckets, registries. */
  private static final List<String> PLAIN_LOGIC =
      List.of(
          "dev.weir.config.ConfigSnapshot",
          "dev.weir.config.GivingRule",
          "dev.weir.config.PlansFile",
          "dev.weir.config.RegionLedger",
          "dev.weir.config.RegionOffer",
          "dev.weir.config.Regions",
          "dev.weir.config.TokenBucket",
          "dev.weir.lease.LeaseCeiling",
          "dev.weir.lease.LeaseSize",
          "dev.weir.lease.StoreClock",
          "dev.weir.decision.Decider",
          "dev.weir.decision.KeyEntry",
          "dev.weir.decision.KeyTable",
          "dev.weir.decision.LimitLease",
          "dev.weir.decision.Outage");

  @ArchTest
  static void logicIsPlainJava(JavaClasses imported) {
    // Renamed away, a class would escape the rule unseen; this fails instead.
    PLAIN_LOGIC.forEach(imported::get);
    noClasses()
        .that(
            new DescribedPredicate<JavaClass>("are plain logic") {
              @Override
              public boolean test(JavaClass candidate) {
                return PLAIN_LOGIC.contains(candidate.getName().split("\\$", 2)[0]);
              }
            })
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.vertx..", "io.netty..", "com.hazelcast..")
        .check(imported);
  }

  @ArchTest
  static final ArchRule librariesLogThroughSlf4j =
      NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING.because("an application chooses its own logging");

  @ArchTest
  static final ArchRule librariesWriteToNoStandardStream =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.weir.node")
          .should(ACCESS_STANDARD_STREAMS)
          .because("standard output is the launcher's");
}
