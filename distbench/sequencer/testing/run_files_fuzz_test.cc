// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// With any files in its directory, a sequencer lists the runs, hands out what
// can be read, and keeps working.

#include <random>
#include <string>

#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/fuzzing/message_mutator.h"
#include "distbench/sequencer/testing/run_files_fuzz_entry.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

constexpr int kRounds = 2000;
constexpr int kMaxMutations = 4;

// Covers the larger file, and exceeds the other one.
constexpr int kFileBytes = 200;

std::string RandomBytes(std::mt19937& random) {
  std::string bytes(random() % 5, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST(RunFilesFuzzTest, TheExampleIsReadAsAWhole) {
  // The id, a piece of the first test, and its end; ended tests have no start.
  EXPECT_EQ(ReadRunFiles(ExampleRunFiles()), 3);
}

TEST(RunFilesFuzzTest, SurvivesTheKeptCorpus) {
  for (const std::string& input : fuzzing::KeptCorpus("run_files")) {
    RunFiles files;
    if (files.ParsePartialFromString(input)) ReadRunFiles(files);
  }
}

TEST(RunFilesFuzzTest, SurvivesMutatedContents) {
  fuzzing::MessageMutator mutator(1, {"client/0", "server/0", "\xff"});
  int readable = 0;
  for (int round = 0; round < kRounds; ++round) {
    RunFiles files = ExampleRunFiles();
    for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(files);
    if (ReadRunFiles(files) > 1) ++readable;
  }
  // Otherwise mostly refusals would be tested.
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
}  // namespace distbench::sequencer
