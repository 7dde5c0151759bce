package dev.weir.lease;

import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads entries of the stream, as replies have them. */
final class UsageEntries {

  /** How many are read at once. */
  static final int PER_PAGE = 500;

  private UsageEntries() {}

  /**
   * @param entries each {@code [id, [field, value, ...]]}; without the fields, or nothing at all,
   *     where an entry is no longer there
   */
  static UsagePage page(Iterable<Response> entries) {
    List<UsageRecord> records = new ArrayList<>();
    List<String> ids = new ArrayList<>();
    for (Response entry : entries) {
      if (entry == null) {
        continue;
      }
      ids.add(entry.get(0).toString());
      Response texts = entry.get(1);
      if (texts != null) {
        Map<String, String> fields = new HashMap<>();
        for (int i = 0; i < texts.size(); i += 2) {
          fields.put(texts.get(i).toString(), texts.get(i + 1).toString());
        }
        UsageRecord.of(fields).ifPresent(records::add);
      }
    }
    return new UsagePage(records, ids);
  }
}
