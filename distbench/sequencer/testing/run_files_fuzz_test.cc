// Whatever a sequencer finds in its directory, it lists, hands out what can be
// read, and goes on.

#include <random>
#include <string>

#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/fuzzing/message_mutator.h"
#include "distbench/sequencer/testing/run_files_fuzz_entry.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

constexpr int kRounds = 2000;
constexpr int kMaxMutations = 4;

// Of the larger file, and more than the other has.
constexpr int kFileBytes = 200;

std::string RandomBytes(std::mt19937& random) {
  std::string bytes(random() % 5, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST(RunFilesFuzzTest, TheExampleIsReadAsAWhole) {
  // Its id, a piece of the first test, and its end; nobody asks for starts now.
  EXPECT_EQ(ReadRunFiles(ExampleRunFiles()), 3);
}

TEST(RunFilesFuzzTest, SurvivesTheKeptCorpus) {
  for (const std::string& input : KeptCorpus("run_files")) {
    RunFiles files;
    if (files.ParsePartialFromString(input)) ReadRunFiles(files);
  }
}

TEST(RunFilesFuzzTest, SurvivesMutatedContents) {
  MessageMutator mutator(1, {"client/0", "server/0", "\xff"});
  int readable = 0;
  for (int round = 0; round < kRounds; ++round) {
    RunFiles files = ExampleRunFiles();
    for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(files);
    if (ReadRunFiles(files) > 1) ++readable;
  }
  // Else it is the refusal only that is tested.
  EXPECT_GT(readable, kRounds / 2);
}

TEST(RunFilesFuzzTest, SurvivesDamagedFiles) {
  std::mt19937 random(2);
  for (int round = 0; round < kRounds; ++round) {
    RunFiles files = ExampleRunFiles();
    for (int i = 0; i <= round % kMaxMutations; ++i) {
      RunFiles::Damage& damage = random() % 2 == 0
                                     ? *files.add_description_damages()
                                     : *files.add_result_damages();
      damage.set_place(random() % kFileBytes);
      damage.set_length(random() % 5);
      damage.set_bytes(RandomBytes(random));
    }
    ReadRunFiles(files);
  }
}

}  // namespace
}  // namespace distbench
