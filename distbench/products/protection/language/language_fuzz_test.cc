// Whatever an experiment or a set of controls contains, checking it must end
// with a plan or with problems.

#include <filesystem>
#include <string>
#include <vector>

#include "distbench/config/compile/compile.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/testing/fuzz_entry.h"
#include "distbench/config/validate/check.h"
#include "distbench/fuzzing/message_mutator.h"
#include "distbench/fuzzing/random_source.h"
#include "distbench/products/protection/language/testing/random_controls.h"
#include "distbench/products/protection/language/testing/random_experiment.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::IsEmpty;

constexpr int kRoundsPerConfig = 500;
constexpr int kMaxMutations = 4;

constexpr char kControlsConfig[] =
    "distbench/products/protection/language/testing/controls.config";

TestSequence Load(const std::string& path) {
  auto sequence = config::LoadTestSequence(path);
  EXPECT_TRUE(sequence.ok()) << sequence.status();
  return sequence.value_or(TestSequence());
}

// The tests of the core's corpus, to which experiments are added.
std::vector<TestSequence> Corpus() {
  std::vector<TestSequence> corpus;
  for (const auto& entry : std::filesystem::directory_iterator(
           "distbench/config/testing/testdata")) {
    corpus.push_back(Load(entry.path()));
  }
  return corpus;
}

TEST(ControlsConfigTest, IsValidAndCompiles) {
  TestSequence sequence = Load(kControlsConfig);
  config::Canonicalize(sequence);
  EXPECT_THAT(config::Validate(sequence), IsEmpty());
  EXPECT_TRUE(config::CheckTestSequence(sequence).ok());
  EXPECT_TRUE(config::CheckAndCompile(sequence));
}

TEST(LanguageFuzzTest, SurvivesMutatedControls) {
  fuzzing::MessageMutator mutator(1, config::ConfigWords());
  const TestSequence original = Load(kControlsConfig);
  for (int round = 0; round < kRoundsPerConfig; ++round) {
    TestSequence sequence = original;
    for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(sequence);
    config::CheckAndCompile(sequence);
    std::string text = config::ToText(original);
    for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(text);
    config::LoadCheckAndCompile(text);
    std::string bytes = original.SerializeAsString();
    for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(bytes);
    config::LoadCheckAndCompile(bytes);
  }
}

TEST(LanguageFuzzTest, RandomControlsAreValid) {
  for (uint64_t seed = 1; seed <= kRoundsPerConfig; ++seed) {
    fuzzing::RandomSource random(seed);
    TestSequence sequence = Load(kControlsConfig);
    DistributedSystemDescription& test = *sequence.mutable_tests(0);
    *test.mutable_controls() = AnyControls("leaf*", random);
    const auto checked = config::CheckTestSequence(sequence);
    ASSERT_TRUE(checked.ok())
        << checked.status() << test.controls().DebugString();
    // The canonical form is one.
    TestSequence again = *checked;
    config::Canonicalize(again);
    EXPECT_EQ(config::ToText(again), config::ToText(*checked));
  }
}

TEST(LanguageFuzzTest, SurvivesRandomExperiments) {
  fuzzing::RandomSource random(5);
  fuzzing::MessageMutator mutator(5, config::ConfigWords());
  for (const TestSequence& original : Corpus()) {
    for (int round = 0; round < kRoundsPerConfig; ++round) {
      TestSequence sequence = original;
      for (DistributedSystemDescription& test : *sequence.mutable_tests()) {
        DrawExperiment(random, test);
      }
      config::CheckAndCompile(sequence);
      mutator.Mutate(*sequence.mutable_tests(0)->mutable_experiment());
      config::CheckAndCompile(sequence);
    }
  }
}

}  // namespace
}  // namespace distbench::protection
