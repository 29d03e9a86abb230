// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Whatever a config contains, loading, checking and compiling it must end with
// a plan or with problems.

#include <filesystem>
#include <string>
#include <vector>

#include "distbench/config/reading/config_format.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/reading/parse.h"
#include "distbench/config/testing/fuzz_entry.h"
#include "distbench/config/testing/random_drivers.h"
#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/fuzzing/message_mutator.h"
#include "distbench/fuzzing/random_source.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

constexpr int kRoundsPerConfig = 500;
constexpr int kMaxMutations = 4;

std::vector<TestSequence> Corpus() {
  std::vector<TestSequence> corpus;
  for (const auto& entry : std::filesystem::directory_iterator(
           "distbench/config/testing/testdata")) {
    auto sequence = LoadTestSequence(entry.path());
    if (sequence.ok()) corpus.push_back(*sequence);
  }
  return corpus;
}

// Mutations of the corpus must also produce valid tests; otherwise they are too
// wild to test much.
constexpr int kMinValidPercent = 5;

TEST(Fuzz, TheCorpusIsValid) {
  ASSERT_GT(Corpus().size(), 5);
  for (const TestSequence& sequence : Corpus()) {
    EXPECT_TRUE(CheckAndCompile(sequence));
  }
}

TEST(Fuzz, SurvivesTheKeptCorpus) {
  for (const std::string& bytes : fuzzing::KeptCorpus("config")) {
    LoadCheckAndCompile(bytes);
  }
}

TEST(Fuzz, SurvivesMutatedMessages) {
  fuzzing::MessageMutator mutator(1, ConfigWords());
  const std::vector<TestSequence> corpus = Corpus();
  int valid = 0;
  for (const TestSequence& original : corpus) {
    for (int round = 0; round < kRoundsPerConfig; ++round) {
      TestSequence sequence = original;
      for (int i = 0; i <= round % kMaxMutations; ++i) {
        mutator.Mutate(sequence);
      }
      if (CheckAndCompile(sequence)) ++valid;
    }
  }
  EXPECT_GT(100 * valid, kMinValidPercent * kRoundsPerConfig * corpus.size());
}

TEST(Fuzz, SurvivesRandomDrivers) {
  fuzzing::RandomSource random(4);
  fuzzing::MessageMutator mutator(4, ConfigWords());
  for (const TestSequence& original : Corpus()) {
    for (int round = 0; round < kRoundsPerConfig; ++round) {
      TestSequence sequence = original;
      for (DistributedSystemDescription& test : *sequence.mutable_tests()) {
        DrawDrivers("grpc", random, test);
      }
      CheckAndCompile(sequence);
      mutator.Mutate(sequence);
      CheckAndCompile(sequence);
    }
  }
}

TEST(Fuzz, SurvivesMutatedText) {
  fuzzing::MessageMutator mutator(2, ConfigWords());
  for (const TestSequence& original : Corpus()) {
    for (int round = 0; round < kRoundsPerConfig; ++round) {
      std::string text = ToText(original);
      for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(text);
      LoadCheckAndCompile(text);
    }
  }
}

TEST(Fuzz, SurvivesMutatedYaml) {
  fuzzing::MessageMutator mutator(5, ConfigWords());
  for (const TestSequence& original : Corpus()) {
    for (int round = 0; round < kRoundsPerConfig; ++round) {
      std::string text = round % 2 == 0 ? ToYaml(original) : ToJson(original);
      for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(text);
      // What mutations leave of it does not always look like YAML.
      TestSequence read;
      if (ParseYaml(text, "input", read).ok()) CheckAndCompile(read);
    }
  }
}

TEST(Fuzz, SurvivesMutatedBinaries) {
  fuzzing::MessageMutator mutator(3, ConfigWords());
  for (const TestSequence& original : Corpus()) {
    for (int round = 0; round < kRoundsPerConfig; ++round) {
      std::string bytes = original.SerializeAsString();
      for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(bytes);
      LoadCheckAndCompile(bytes);
    }
  }
}

}  // namespace
}  // namespace distbench::config
