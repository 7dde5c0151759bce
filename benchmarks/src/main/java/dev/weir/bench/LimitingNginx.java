package dev.weir.bench;

import io.vertx.core.http.HttpHeaders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * An nginx whose {@code limit_req} lets every request pass by its key, and that then gives a node's
 * answer from a file.
 */
final class LimitingNginx {

  private static final String CONFIGURATION =
      """
      daemon off;
      pid pid;
      error_log stderr error;
      worker_processes auto;
      events {
        worker_connections 1024;
      }
      http {
        access_log off;
        client_body_temp_path body;
        proxy_temp_path proxy;
        fastcgi_temp_path fastcgi;
        uwsgi_temp_path uwsgi;
        scgi_temp_path scgi;
        keepalive_requests 1000000000;
        open_file_cache max=10;
        etag off;
        limit_req_zone $arg_key zone=keys:10m rate=1000000r/s;
        server {
          listen 127.0.0.1:%d;
          location / {
            root %s;
            limit_req zone=keys burst=1000000 nodelay;
            default_type application/json;
            try_files /answer =500;
      %s
          }
        }
      }
      """;

  /** Those that nginx writes itself. */
  private static final List<String> OWN =
      List.of(HttpHeaders.CONTENT_LENGTH.toString(), HttpHeaders.CONTENT_TYPE.toString());

  private LimitingNginx() {}

  static ServerProcess start(Path program, FixedAnswer answer) {
    return ServerProcess.nginx(program, (directory, port) -> write(directory, port, answer));
  }

  private static Path write(TemporaryDirectory directory, int port, FixedAnswer answer) {
    try {
      // Started by root, nginx works as somebody else.
      Files.setPosixFilePermissions(directory.path(), PosixFilePermissions.fromString("rwxr-xr-x"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    directory.write("answer", answer.body().toString());
    String headers =
        answer.headers().stream()
            .filter(header -> !OWN.contains(header.getKey().toLowerCase(Locale.ROOT)))
            .map(LimitingNginx::header)
            .collect(Collectors.joining("\n"));
    return directory.write("nginx.conf", CONFIGURATION.formatted(port, directory.path(), headers));
  }

  private static String header(Map.Entry<String, String> header) {
    return "      add_header %s '%s';".formatted(header.getKey(), header.getValue());
  }
}
