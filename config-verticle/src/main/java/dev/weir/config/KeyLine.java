package dev.weir.config;

/**
 * What is to be set of one key among many.
 *
 * @param number of the line that says so, from 1, for who reads what is wrong with it
 * @param key that it is about
 * @param setting what is to be set of it; what it has not stays
 */
public record KeyLine(int number, String key, KeySetting setting) {}
