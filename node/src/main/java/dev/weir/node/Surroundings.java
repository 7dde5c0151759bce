package dev.weir.node;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;

/**
 * What a process finds around itself.
 *
 * @param out standard output
 * @param err standard error
 * @param environment its variables
 * @param directory that it was started in
 */
record Surroundings(
    PrintWriter out, PrintWriter err, Map<String, String> environment, Path directory) {}
