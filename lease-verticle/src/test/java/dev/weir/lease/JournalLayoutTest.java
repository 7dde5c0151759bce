package dev.weir.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class JournalLayoutTest {

  @Test
  void eachEntryHasACounterOfItsOwnBeforeTheFirstEntry() {
    int most = JournalLayout.MOST_ENTRIES;
    assertThat(IntStream.range(0, most).map(JournalLayout::spentAt).distinct().count())
        .isEqualTo(most);
    for (int nth = 0; nth < most; nth++) {
      int at = JournalLayout.spentAt(nth);
      assertThat(at).isBetween(Long.BYTES, JournalLayout.HEADER - Long.BYTES);
      assertThat(at % Long.BYTES).isZero();
      assertThat(JournalLayout.nth(at)).isEqualTo(nth);
    }
  }

  @Test
  void aPlaceTellsOfAllCountersOfAnEntry() {
    int last = JournalSegment.SIZE - Long.BYTES;
    int spentAt = JournalLayout.spentAt(JournalLayout.MOST_ENTRIES - 1);
    int place = JournalLayout.place(last, spentAt);
    assertThat(JournalLayout.countedAt(place, JournalLayout.SPENT)).isEqualTo(spentAt);
    assertThat(JournalLayout.countedAt(place, JournalLayout.DEGRADED))
        .isEqualTo(last + JournalLayout.COUNTED_HERE);
  }

  @Test
  void aSegmentHasCountersForAsManyEntriesAsItHasRoomFor() {
    int shortest = JournalLayout.lengthOf(new byte[1], new byte[1]);
    int entries = (JournalSegment.SIZE - JournalLayout.HEADER) / shortest;
    assertThat(JournalLayout.MOST_ENTRIES).isCloseTo(entries, within(8));
  }
}
