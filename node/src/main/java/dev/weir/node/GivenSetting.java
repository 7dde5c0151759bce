package dev.weir.node;

/**
 * A setting as somebody wrote it.
 *
 * @param text of the value
 * @param origin where it stands, to be read in an error: {@code from WEIR_HTTP_PORT}
 */
record GivenSetting(String text, String origin) {}
