package dev.weir.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A {@link Gateway} as it is written: {@code {keys: [header X-Api-Key, bearer, address], rules:
 * ["GET /search/** -> search"]}}. What is left out is as {@link Gateway#DEFAULT} has it.
 */
final class GatewayFormat {

  private static final int MOST_KEYS = 8;
  private static final int MOST_RULES = 1000;
  private static final String HEADER = "header ";
  private static final Pattern FIELD_NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}");

  private GatewayFormat() {}

  static Gateway read(String path, Object value, Errors errors) {
    if (value == null) {
      return Gateway.DEFAULT;
    }
    Optional<Members> found = Members.of(path, value, errors);
    if (found.isEmpty()) {
      return Gateway.DEFAULT;
    }
    Members members = found.get();
    List<KeySource> keys =
        members.has("keys")
            ? readKeys(path + ".keys", members.take("keys"), errors)
            : Gateway.DEFAULT.keys();
    List<GatewayRule> rules =
        members.has("rules")
            ? readRules(path + ".rules", members.take("rules"), errors)
            : Gateway.DEFAULT.rules();
    members.refuseRest("keys, rules");
    return new Gateway(keys, rules);
  }

  /** As members that a JSON writer takes; {@link #read} reads them back. */
  static Map<String, Object> format(Gateway gateway) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("keys", gateway.keys().stream().map(GatewayFormat::format).toList());
    members.put("rules", gateway.rules().stream().map(GatewayRule::format).toList());
    return members;
  }

  private static String format(KeySource source) {
    if (source instanceof KeySource.Header header) {
      return HEADER + header.name();
    }
    return source instanceof KeySource.Bearer ? "bearer" : "address";
  }

  private static List<KeySource> readKeys(String path, Object value, Errors errors) {
    List<KeySource> keys = new ArrayList<>();
    List<?> texts = list(path, value, 1, MOST_KEYS, errors);
    for (int i = 0; i < texts.size(); i++) {
      String at = path + "[" + i + "]";
      Optional<KeySource> source = readKey(at, texts.get(i), errors);
      if (source.isEmpty()) {
        continue;
      }
      if (keys.stream().anyMatch(each -> same(each, source.get()))) {
        errors.add(at, "is given twice");
      }
      if (source.get() instanceof KeySource.Address && i < texts.size() - 1) {
        errors.add(at, "must be the last: every request has an address");
      }
      keys.add(source.get());
    }
    return keys;
  }

  private static Optional<KeySource> readKey(String path, Object value, Errors errors) {
    if (value instanceof String text) {
      if (text.equals("bearer")) {
        return Optional.of(new KeySource.Bearer());
      }
      if (text.equals("address")) {
        return Optional.of(new KeySource.Address());
      }
      if (text.startsWith(HEADER)) {
        String name = text.substring(HEADER.length()).strip();
        if (FIELD_NAME.matcher(name).matches()) {
          return Optional.of(new KeySource.Header(name));
        }
      }
    }
    errors.add(
        path, "must be 'header' and its name, 'bearer' or 'address', was " + Errors.shown(value));
    return Optional.empty();
  }

  private static boolean same(KeySource one, KeySource other) {
    return format(one).toLowerCase(Locale.ROOT).equals(format(other).toLowerCase(Locale.ROOT));
  }

  private static List<GatewayRule> readRules(String path, Object value, Errors errors) {
    List<GatewayRule> rules = new ArrayList<>();
    List<?> texts = list(path, value, 0, MOST_RULES, errors);
    for (int i = 0; i < texts.size(); i++) {
      GatewayRule.parse(path + "[" + i + "]", texts.get(i), errors).ifPresent(rules::add);
    }
    return rules;
  }

  private static List<?> list(String path, Object value, int least, int most, Errors errors) {
    if (value instanceof List<?> list && list.size() >= least && list.size() <= most) {
      return list;
    }
    String was =
        value instanceof List<?> list ? Integer.toString(list.size()) : Errors.shown(value);
    errors.add(path, "must be a list of " + least + " to " + most + ", was " + was);
    return List.of();
  }
}
