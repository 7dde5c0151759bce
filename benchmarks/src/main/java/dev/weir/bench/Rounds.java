package dev.weir.bench;

import java.util.ArrayList;
import java.util.List;

/** The figures of one side of a comparison, one from each round. Not safe for use by threads. */
final class Rounds {

  private final List<Double> figures = new ArrayList<>();

  void add(double figure) {
    figures.add(figure);
  }

  double median() {
    return median(figures);
  }

  /** The median of the ratios of each round, so that rounds in which the machine was busy agree. */
  double ratioTo(Rounds other) {
    List<Double> ratios = new ArrayList<>();
    for (int round = 0; round < figures.size(); round++) {
      ratios.add(figures.get(round) / other.figures.get(round));
    }
    return median(ratios);
  }

  /** The median of what each round's figure is above the other side's. */
  double above(Rounds other) {
    List<Double> differences = new ArrayList<>();
    for (int round = 0; round < figures.size(); round++) {
      differences.add(figures.get(round) - other.figures.get(round));
    }
    return median(differences);
  }

  private static double median(List<Double> figures) {
    List<Double> sorted = figures.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }
}
