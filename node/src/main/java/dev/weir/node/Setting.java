package dev.weir.node;

import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;

/**
 * One setting of a node: its names, what it is when nobody gives it, and how its text is read.
 *
 * @param path in the settings file, sections and name joined by dots
 * @param variable its environment variable
 * @param fallback text of the default; empty where the default is to have none
 * @param secret whether its value may not be shown
 * @param bare its text where the command line gives the option without a value; empty if it must
 *     not
 * @param parser of its text
 * @param help one line on what it is
 */
record Setting<T>(
    String path,
    String variable,
    String fallback,
    boolean secret,
    String bare,
    SettingParser<T> parser,
    String help) {

  private static final String VARIABLE_PREFIX = "WEIR_";

  /**
   * The command line's names of it: the path as it is, with dashes, and the variable's name in the
   * same manner, which is the short form where the two differ.
   */
  Set<String> options() {
    Set<String> names = new LinkedHashSet<>();
    names.add("--" + path);
    names.add("--" + dashed(path));
    names.add("--" + dashed(variable.substring(VARIABLE_PREFIX.length())));
    return names;
  }

  private static String dashed(String name) {
    return name.toLowerCase(Locale.ROOT).replace('.', '-').replace('_', '-');
  }
}
