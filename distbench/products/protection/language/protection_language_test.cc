// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>
#include <vector>

#include "distbench/config/compile/compile.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/testing/fuzz_entry.h"
#include "distbench/config/testing/validation_cases.h"
#include "distbench/config/validate/check.h"
#include "distbench/fuzzing/message_mutator.h"
#include "distbench/fuzzing/random_source.h"
#include "distbench/products/protection/language/testing/random_experiment.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::IsEmpty;

class BadExperiment : public ::testing::TestWithParam<config::ValidationCase> {
};

TEST_P(BadExperiment, IsTheOnlyProblem) {
  config::ExpectOneProblem(GetParam());
}

// The base config sends two RPCs, in closed loops.
#define EXPERIMENT(parts)                                  \
  "activity_configs { name: 'burn' activity_settings {"    \
  "  name: 'activity_func' string_value: 'ConsumeCpu' } }" \
  "experiment { subject { rpc: 'query' } " parts " }"

#define SUBJECT(parts) "experiment { subject { " parts " } }"

#define ANTAGONIST(parts) \
  EXPERIMENT("antagonists { name: 'hog' activity: 'burn' " parts " }")

INSTANTIATE_TEST_SUITE_P(
    Subject, BadExperiment,
    ::testing::Values(
        config::ValidationCase{"NoRpc", "", SUBJECT(""),
                               "experiment.subject.rpc",
                               "main lists send several; name the RPC"},
        config::ValidationCase{"UnknownRpc", "", SUBJECT("rpc: 'qurey'"),
                               "experiment.subject.rpc",
                               "did you mean \"query\"?"},
        config::ValidationCase{
            "UnknownService", "", SUBJECT("rpc: 'query' services: 'sever*'"),
            "experiment.subject.services[0]", "no service matches \"sever*\""},
        config::ValidationCase{
            "ObjectiveIsNone", "", SUBJECT("rpc: 'query' objective: 'fast'"),
            "experiment.subject.objective", "has neither <= nor >="},
        config::ValidationCase{
            "ObjectiveOnFailures", "",
            SUBJECT("rpc: 'query' objective: 'failures<=1%'"),
            "experiment.subject.objective",
            "does not limit a percentile of the response time"},
        config::ValidationCase{
            "ObjectiveIsALowerLimit", "",
            SUBJECT("rpc: 'query' objective: 'p99>=1ms'"),
            "experiment.subject.objective",
            "does not limit a percentile of the response time"},
        config::ValidationCase{
            "ObjectiveOfAnotherRpc", "",
            SUBJECT("rpc: 'query' objective: 'talk p99<=1ms'"),
            "experiment.subject.objective",
            "is about \"talk\", but the subject is \"query\""},
        config::ValidationCase{
            "LoadOfAClosedLoop", "", SUBJECT("rpc: 'query' loads: '200/s'"),
            "experiment.subject.loads", "there is no rate to set"},
        config::ValidationCase{"CapacityWithoutAShare", "",
                               SUBJECT("rpc: 'query' capacity: '200/s'"),
                               "experiment.subject.capacity", "has no effect"}),
    [](const auto& info) { return info.param.rule; });

// These replace the closed loop of the base config.
#define OPEN_LOOP                                                            \
  "  actions { name: 'run' rpc_name: 'query' iterations { max_duration_us: " \
  "9 } }\n"

#define RATE(subject)                                                        \
  "actions { name: 'run' rpc_name: 'query' iterations { rate: '100/s' } }\n" \
  "experiment { subject { rpc: 'query' " subject " } }\n"

INSTANTIATE_TEST_SUITE_P(
    Loads, BadExperiment,
    ::testing::Values(
        config::ValidationCase{
            "NoLoad", OPEN_LOOP, RATE("loads: ['80/s', 'much']"),
            "experiment.subject.loads[1]",
            "\"much\" is not a load; write a rate such as 200/s"},
        config::ValidationCase{
            "LoadTwice", OPEN_LOOP, RATE("loads: ['8/s', '8/s']"),
            "experiment.subject.loads[1]", "is listed more than once"},
        config::ValidationCase{"NoCapacity", OPEN_LOOP, RATE("loads: '80%'"),
                               "experiment.subject.capacity",
                               "cannot be searched for without an objective"},
        config::ValidationCase{
            "OpenAndClosedLoops",
            OPEN_LOOP "  actions { name: 'then' dependencies: 'run' "
                      "predicates: 'lucky' }\n",
            RATE("") "actions { name: 'then' rpc_name: 'query' "
                     "dependencies: 'run' predicates: 'lucky' "
                     "iterations { max_duration_us: 9 } "
                     "}\n",
            "experiment.subject.rpc",
            "\"query\" is sent by open and by closed loops"},
        config::ValidationCase{
            "CapacityIsAShare", OPEN_LOOP, RATE("loads: '80%' capacity: '90%'"),
            "experiment.subject.capacity", "\"90%\" is not a rate"}),
    [](const auto& info) { return info.param.rule; });

INSTANTIATE_TEST_SUITE_P(
    Antagonists, BadExperiment,
    ::testing::Values(
        config::ValidationCase{"NoName", "",
                               EXPERIMENT("antagonists { activity: 'burn' }"),
                               "experiment.antagonists[0].name", "is missing"},
        config::ValidationCase{"NameForNoService", "",
                               EXPERIMENT("antagonists { name: 'a/b' "
                                          "activity: 'burn' }"),
                               "experiment.antagonists[0].name",
                               "use letters, digits, '_', '-' and '.'"},
        config::ValidationCase{
            "NameTwice", "",
            EXPERIMENT("antagonists { name: 'a' activity: 'burn' }"
                       "antagonists { name: 'a' activity: 'burn' "
                       "}"),
            "experiment.antagonists[1].name",
            "as does antagonists[0]; names must be unique"},
        config::ValidationCase{
            "NameOfASender", "",
            EXPERIMENT("antagonists { name: 'a' activity: 'incast' "
                       "message_size: '1B' }"
                       "antagonists { name: 'a_sender' "
                       "activity: 'burn' }"),
            "experiment.antagonists[1].name",
            "\"antagonist_a_sender\", as does antagonists[0]"},
        config::ValidationCase{
            "NoActivity", "", EXPERIMENT("antagonists { name: 'hog' }"),
            "experiment.antagonists[0].activity", "is missing"},
        config::ValidationCase{"UnknownActivity", "",
                               EXPERIMENT("antagonists { name: 'hog' "
                                          "activity: 'brun' }"),
                               "experiment.antagonists[0].activity",
                               "did you mean \"burn\"?"},
        config::ValidationCase{"NoInstances", "", ANTAGONIST("instances: 0"),
                               "experiment.antagonists[0].instances",
                               "must be from 1 to 1024"},
        config::ValidationCase{"NoThreads", "", ANTAGONIST("threads: 0"),
                               "experiment.antagonists[0].threads",
                               "must be from 1 to 1024"},
        config::ValidationCase{
            "ThreadsBeyondTheLimit", "", ANTAGONIST("threads: 1024"),
            "experiment.antagonists[0].threads", "overload_limits.max_threads"},
        config::ValidationCase{"RateIsNone", "", ANTAGONIST("rate: '5'"),
                               "experiment.antagonists[0].rate",
                               "is not a rate"},
        config::ValidationCase{
            "RateIsTooLow", "", ANTAGONIST("rate: '0.001/h'"),
            "experiment.antagonists[0].rate", "is out of range"},
        config::ValidationCase{
            "RateIsTooHigh", "", ANTAGONIST("rate: '2000M/s'"),
            "experiment.antagonists[0].rate", "is out of range"},
        config::ValidationCase{
            "RampIsNone", "", ANTAGONIST("threads: 2 ramp: '5'"),
            "experiment.antagonists[0].ramp", "is not a duration"},
        config::ValidationCase{"RampIsTooLong", "",
                               ANTAGONIST("threads: 2 ramp: '61s'"),
                               "experiment.antagonists[0].ramp",
                               "is longer than the phase interfere, 1m"},
        config::ValidationCase{"NothingGrows", "", ANTAGONIST("ramp: '5s'"),
                               "experiment.antagonists[0].ramp",
                               "has nothing to grow"},
        config::ValidationCase{"SendersOfAnActivity", "",
                               ANTAGONIST("senders: 2"),
                               "experiment.antagonists[0].senders",
                               "has no effect on an activity"},
        config::ValidationCase{"MessagesOfAnActivity", "",
                               ANTAGONIST("message_size: '1kB'"),
                               "experiment.antagonists[0].message_size",
                               "has no effect on an activity"},
        config::ValidationCase{"IncastWithoutASize", "",
                               EXPERIMENT("antagonists { name: 'i' "
                                          "activity: 'incast' }"),
                               "experiment.antagonists[0].message_size",
                               "is missing"},
        config::ValidationCase{
            "IncastWithoutSenders", "",
            EXPERIMENT("antagonists { name: 'i' activity: 'incast' "
                       "message_size: '1kB' senders: 0 }"),
            "experiment.antagonists[0].senders", "must be from 1 to 1000"},
        config::ValidationCase{
            "IncastIsTooSlow", "",
            EXPERIMENT("antagonists { name: 'i' activity: 'incast' "
                       "message_size: '1kB' rate: '50/h' }"),
            "experiment.antagonists[0].rate",
            "the first burst might come after the phase interfere, "
            "1m"},
        config::ValidationCase{
            "IncastIsTooLarge", "",
            EXPERIMENT("antagonists { name: 'i' activity: 'incast' "
                       "message_size: '3GiB' }"),
            "experiment.antagonists[0].message_size", "is out of range"},
        config::ValidationCase{"PlacedWithNobody", "",
                               ANTAGONIST("placed_with: 'serve'"),
                               "experiment.antagonists[0].placed_with[0]",
                               "did you mean \"server\"?"},
        config::ValidationCase{
            "BesideUnknownNodes", "",
            ANTAGONIST("") "service_constraints { "
                           "key: 'client/*' value {} }",
            "experiment.antagonists[0]",
            "cannot run beside \"server\", whose nodes are not "
            "known"}),
    [](const auto& info) { return info.param.rule; });

INSTANTIATE_TEST_SUITE_P(
    Matrix, BadExperiment,
    ::testing::Values(
        config::ValidationCase{"ControlsWithoutAName", "",
                               EXPERIMENT("controls {}"),
                               "experiment.controls[0].name", "is missing"},
        config::ValidationCase{"ControlsTwice", "",
                               EXPERIMENT("controls { name: 'a' } "
                                          "controls { name: 'a' }"),
                               "experiment.controls[1].name",
                               "names must be unique"},
        config::ValidationCase{"ControlsOfTheTest", "",
                               EXPERIMENT("") "controls { name: 'a' }",
                               "controls", "excludes experiment"},
        config::ValidationCase{"NeverRepeated", "", EXPERIMENT("repeat: 0"),
                               "experiment.repeat", "must be from 1 to 1000"},
        config::ValidationCase{
            "TooManyRuns", "",
            EXPERIMENT("repeat: 1000 "
                       "antagonists { name: 'a' activity: 'burn' }"
                       "antagonists { name: 'b' activity: 'burn' }"
                       "antagonists { name: 'c' activity: 'burn' }"
                       "controls { name: 'off' } "
                       "controls { name: 'on' }"),
            "experiment", "has 11000 runs; at most 10000"},
        config::ValidationCase{
            "PhaseIsNone", "", EXPERIMENT("phases { baseline: 'long' }"),
            "experiment.phases.baseline", "is not a duration"},
        config::ValidationCase{
            "ReservedName", "",
            EXPERIMENT("") "payload_descriptions { "
                           "name: 'antagonist_size' size: 1 }",
            "payload_descriptions[2].name", "begins with antagonist_"}),
    [](const auto& info) { return info.param.rule; });

INSTANTIATE_TEST_SUITE_P(
    Objectives, BadExperiment,
    ::testing::Values(
        config::ValidationCase{"IsolationWithoutAnAntagonist", "",
                               "search { objectives: 'isol_p05>=90%' }",
                               "search.objectives[0]", "needs an antagonist"},
        config::ValidationCase{"IsolationOfAPlainRun", "",
                               "objectives: 'isol_p05>=90%'", "objectives[0]",
                               "is measured beside an antagonist"}),
    [](const auto& info) { return info.param.rule; });

TEST(ExperimentTest, MayBeComplete) {
  EXPECT_THAT(config::ProblemsAfter(
                  OPEN_LOOP,
                  "actions { name: 'run' rpc_name: 'query' "
                  "iterations { rate: '100/s' } } "
                  "experiment { subject { rpc: 'query' services: 'server' "
                  "loads: ['80%', '50/s'] objective: 'query p99<=20ms' } "
                  "antagonists { name: 'hog' activity: 'burn' instances: 2 "
                  "threads: 4 ramp: '10s' placed_with: ['client', 's*'] } "
                  "antagonists { name: 'burst' activity: 'incast' senders: 3 "
                  "message_size: '64KiB' rate: '10/s' } "
                  "controls { name: 'off' } "
                  "controls { name: 'on' groups { services: 'server' "
                  "cpu_weight: 500 } groups { services: 'antagonist_*' "
                  "cpu_weight: 10 } } "
                  "phases { stabilise: '30s' flat_over: '10s' "
                  "flat_within_percent: 1 baseline: '10s' interfere: '30s' "
                  "recover: '0s' } repeat: 2 }"
                  "activity_configs { name: 'burn' activity_settings { "
                  "name: 'activity_func' string_value: 'ConsumeCpu' } }"),
              IsEmpty());
}

TEST(ExperimentTest, BundledInstancesMayHaveConstraints) {
  EXPECT_THAT(config::ProblemsAfter(
                  "", ANTAGONIST("") "service_constraints { key: 'client/*' "
                                     "value {} } node_service_bundles { "
                                     "key: 'node0' value { services: ["
                                     "'server/0', 'server/1', 'server/2'] } "
                                     "}"),
              IsEmpty());
}

}  // namespace

// Whatever an experiment or a set of controls contains, checking it must end
// with a plan or with problems.

namespace {

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
