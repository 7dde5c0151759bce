package dev.weir.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class NodeShareTest {

  private final List<NodeShare> shares = new ArrayList<>();
  private long authorized;
  private int window = 28_333_333;

  /** A word on an accounting window. */
  record Word(int window, long granted, long authorized) {}

  @Provide
  Arbitrary<Word> words() {
    Arbitrary<Long> units =
        Arbitraries.oneOf(
            Arbitraries.longs().between(0, 100), Arbitraries.longs().between(0, 1L << 50));
    return Combinators.combine(Arbitraries.integers().between(-3, 3), units, units).as(Word::new);
  }

  private void nodes(int count) {
    for (int i = 0; i < count; i++) {
      shares.add(new NodeShare());
    }
  }

  /** So many grants to each node in turn, spread over a window. */
  private void window(int rounds, long... grants) {
    for (int round = 0; round < rounds; round++) {
      for (int node = 0; node < grants.length; node++) {
        if (grants[node] > 0) {
          authorized += grants[node];
          shares.get(node).heard(window, grants[node], authorized);
        }
      }
    }
    window++;
    authorized = 0;
  }

  private double share(int node) {
    return shares.get(node).share(shares.size());
  }

  @Test
  void aNodeThatHasHeardNothingCountsOnAnEvenShareButNotOnLessThanTheLeast() {
    assertThat(new NodeShare().share(1)).isEqualTo(1);
    assertThat(new NodeShare().share(8)).isEqualTo(0.125);
    assertThat(new NodeShare().share(200)).isEqualTo(0.02);
  }

  @Test
  void aNodeThatIsAloneCountsOnAll() {
    nodes(1);
    window(1, 7);
    assertThat(share(0)).isEqualTo(1);
  }

  @Test
  void allTrafficOnTwoOfSixNodesMakesEachOfThemCountOnHalf() {
    nodes(6);
    window(20, 10, 10);
    assertThat(share(0)).isBetween(0.45, 0.5);
    assertThat(share(1)).isBetween(0.45, 0.5);
    assertThat(share(5)).isCloseTo(1 / 6.0, within(1e-9));
  }

  @Test
  void theShareOfAKeyThatHasJustStartedIsWhatItWasSoFar() {
    nodes(2);
    window = 1;
    for (int i = 0; i < 50; i++) {
      shares.get(0).heard(1, 3, 4 * i + 3);
      shares.get(1).heard(1, 1, 4 * i + 4);
    }
    assertThat(share(0)).isCloseTo(0.75, within(0.02));
    assertThat(share(1)).isCloseTo(0.25, within(0.02));
  }

  @Test
  void whatWasGrantedBeforeANodeWasStartedIsNotHeldAgainstIt() {
    nodes(2);
    for (int i = 0; i < 20; i++) {
      shares.get(0).heard(window, 5, 1_000_000 + 5 * i);
    }
    assertThat(share(0)).isGreaterThan(0.95);
  }

  @Test
  void aShareFollowsTheTrafficWithinAFewWindows() {
    nodes(2);
    for (int i = 0; i < 20; i++) {
      window(20, 9, 1);
    }
    assertThat(share(0)).isCloseTo(0.9, within(0.02));
    for (int i = 0; i < 4; i++) {
      window(20, 1, 9);
    }
    assertThat(share(0)).isCloseTo(0.15, within(0.03));
    assertThat(share(1)).isCloseTo(0.85, within(0.03));
  }

  @Test
  void windowsWithoutAWordChangeNothing() {
    nodes(3);
    window(20, 8, 1, 1);
    double before = share(0);
    window += 1_000;
    shares.get(0).heard(window, 0, 0);
    assertThat(share(0)).isEqualTo(before);
  }

  @Test
  void aStoreThatHasLostItsCountsBeginsANewOne() {
    nodes(2);
    window(20, 5, 5);
    window--;
    window(20, 5, 5);
    assertThat(share(0)).isBetween(0.4, 0.55);
  }

  @Property
  void aShareIsNeverOutsideOfItsRangeWhateverIsHeard(
      @ForAll List<@From("words") Word> words, @ForAll @IntRange(min = 1, max = 100) int nodes) {
    NodeShare share = new NodeShare();
    for (Word word : words) {
      share.heard(word.window(), word.granted(), word.authorized());
      assertThat(share.share(nodes)).isBetween(NodeShare.LEAST, 1.0);
    }
  }

  /** However traffic is spread, all shares together are about one, and each is about right. */
  @Property
  void theSharesOfAFleetAreThoseOfItsTraffic(
      @ForAll @IntRange(min = 1, max = 8) int nodes,
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 10_000) int unit) {
    shares.clear();
    nodes(nodes);
    Random random = new Random(seed);
    long[] grants = new long[nodes];
    for (int i = 0; i < nodes; i++) {
      grants[i] = (long) unit * random.nextInt(10);
    }
    grants[0] += unit;
    for (int i = 0; i < 4; i++) {
      window(30, grants);
    }
    double all = LongStream.of(grants).sum();
    double sum = 0;
    for (int i = 0; i < nodes; i++) {
      if (grants[i] > 0) {
        assertThat(share(i)).isCloseTo(Math.max(NodeShare.LEAST, grants[i] / all), within(0.03));
        sum += share(i);
      }
    }
    assertThat(sum).isBetween(0.95, 1 + nodes * NodeShare.LEAST);
  }

  @Test
  void aNodeThatAloneServesAKeyThatIsSeldomAskedAboutCountsOnMostOfIt() {
    NodeShare share = new NodeShare();
    for (int minute = 0; minute < 20; minute++) {
      share.heard(window + minute, 10, 10);
    }
    assertThat(share.share(50)).isGreaterThan(0.6);
  }
}
