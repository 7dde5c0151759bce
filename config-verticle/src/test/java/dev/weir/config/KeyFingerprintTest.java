package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class KeyFingerprintTest {

  @Test
  void itIsWhatSha256sumOfTheKeyBeginsWith() {
    assertThat(KeyFingerprint.of("acme")).isEqualTo("sha256:822b33ad87c148a0");
    assertThat(KeyFingerprint.of("")).isEqualTo("sha256:e3b0c44298fc1c14");
  }
}
