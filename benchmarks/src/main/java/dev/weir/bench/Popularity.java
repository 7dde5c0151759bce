package dev.weir.bench;

import java.util.stream.IntStream;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.PermutationSampler;
import org.apache.commons.rng.sampling.distribution.RejectionInversionZipfSampler;
import org.apache.commons.rng.sampling.distribution.SharedStateDiscreteSampler;
import org.apache.commons.rng.simple.RandomSource;

/**
 * Which keys are asked about how often: the second most popular one half as often as the first, the
 * third a third as often (Zipf's law, exponent 1). Popular keys lie anywhere among the others.
 */
final class Popularity {

  private static final double EXPONENT = 1;
  private static final long SEED = 7;

  private Popularity() {}

  /**
   * Keys in the order in which they are asked about.
   *
   * @param keys how many there are, 1 or more
   * @param length of the sequence
   * @param number of the sequence: each is another one, and always the same
   */
  static int[] sequence(int keys, int length, long number) {
    int[] keyOfRank =
        new PermutationSampler(RandomSource.SPLIT_MIX_64.create(SEED), keys, keys).sample();
    UniformRandomProvider random = RandomSource.SPLIT_MIX_64.create(SEED + 1 + number);
    SharedStateDiscreteSampler rank = RejectionInversionZipfSampler.of(random, keys, EXPONENT);
    return IntStream.generate(() -> keyOfRank[rank.sample() - 1]).limit(length).toArray();
  }
}
