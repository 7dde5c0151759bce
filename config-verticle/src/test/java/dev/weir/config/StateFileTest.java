package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StateFileTest {

  @TempDir Path scratch;

  @Test
  void whatIsWrittenIsThereForTheNextNode() throws IOException {
    ConfigState first = ConfigState.first(PlansFile.example(), "default", "me");
    try (StateFile file = open()) {
      assertThat(file.read()).isEmpty();
      file.write(first);
      file.write(SampleStates.rich());
    }
    try (StateFile file = open()) {
      assertThat(file.read()).contains(SampleStates.rich());
    }
    try (var files = Files.list(scratch)) {
      assertThat(files.map(path -> path.getFileName().toString()))
          .containsExactlyInAnyOrder("lock", "state");
    }
  }

  @Test
  void aDamagedFileIsSetAsideAndAnotherBegun() throws IOException {
    Files.writeString(scratch.resolve("state"), "weir configuration 1 nonsense");
    try (StateFile file = open()) {
      assertThat(file.read()).isEmpty();
      assertThat(file.read()).isEmpty();
      assertThat(scratch.resolve("state.damaged")).hasContent("weir configuration 1 nonsense");
      file.write(SampleStates.rich());
      assertThat(file.read()).contains(SampleStates.rich());
    }
  }

  @Test
  void aWriteThatWasCutOffLeavesTheFileBefore() throws IOException {
    try (StateFile file = open()) {
      file.write(SampleStates.rich());
      Files.writeString(scratch.resolve("state.new"), "weir conf");
      assertThat(file.read()).contains(SampleStates.rich());
      file.write(SampleStates.large(10));
      assertThat(file.read()).contains(SampleStates.large(10));
    }
  }

  @Test
  void aDirectoryIsOneNodesAtATime() throws IOException {
    try (StateFile file = open()) {
      file.write(SampleStates.rich());
      assertThat(StateFile.open(scratch)).isEmpty();
      assertThat(StateFile.open(scratch)).isEmpty();
    }
    try (StateFile file = open()) {
      assertThat(file.read()).isPresent();
    }
  }

  @Test
  void aDirectoryThatCannotBeIsNoReasonToFail() throws IOException {
    Path taken = Files.writeString(scratch.resolve("file"), "");
    assertThat(StateFile.open(taken.resolve("below"))).isEmpty();
  }

  private StateFile open() {
    Optional<StateFile> file = StateFile.open(scratch);
    assertThat(file).isPresent();
    return file.orElseThrow();
  }
}
