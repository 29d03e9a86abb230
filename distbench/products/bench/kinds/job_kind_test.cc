// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/kinds/job_kind.h"

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/bench/block_devices/io_cost.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "distbench/products/bench/kinds/searching_jobs.h"
#include "distbench/products/bench/kinds/tests_of_job.h"
#include "distbench/products/bench/kinds/values.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(JobKindsTest, AllAreThere) {
  std::vector<std::string> kinds;
  for (const JobDeclaration& declaration : JobDeclarations()) {
    kinds.push_back(declaration.kind);
  }
  EXPECT_THAT(kinds, ElementsAre("run", "search", "protection", "hashd-params",
                                 "iocost-params", "numa", "calibrate"));
  EXPECT_THAT(base::Message(FindJobKind("protecton").status()),
              HasSubstr("did you mean \"protection\"?"));
}

TEST(JobKindsTest, DeclarationsAreSound) {
  std::set<std::string> common;
  for (const JobProperty& property : CommonProperties()) {
    common.insert(property.name);
  }
  for (const JobDeclaration& declaration : JobDeclarations()) {
    std::set<std::string> names = common;
    EXPECT_FALSE(declaration.description.empty());
    for (const JobProperty& property : declaration.properties) {
      EXPECT_TRUE(names.insert(property.name).second) << property.name;
      EXPECT_FALSE(property.description.empty()) << property.name;
      // With its default, it has to fit a line of the help text.
      EXPECT_LE(property.description.size(), 76u) << property.name;
      if (property.default_value.empty()) continue;
      EXPECT_TRUE(CheckPropertyValue(property, property.default_value).ok())
          << declaration.kind << " " << property.name;
    }
  }
}

// A kind's view of properties, for Prepare().
absl::Status Prepared(const JobKind& kind,
                      std::map<std::string, std::string> properties,
                      const TestSequence& tests = {}) {
  JobEnvironment environment;
  environment.load_tests = [&](const std::string&) { return tests; };
  environment.build_test = [](const std::string& pattern)
      -> absl::StatusOr<DistributedSystemDescription> {
    return absl::InvalidArgumentError("built " + pattern);
  };
  return kind
      .Prepare(PropertyValues(kind.declaration(), std::move(properties)),
               environment)
      .status();
}

TEST(JobKindsTest, WrongPropertiesAreFoundBeforeTheRun) {
  EXPECT_THAT(
      base::Message(Prepared(RunKind(), {{"infile", "x"}, {"slo", "?"}})),
      HasSubstr("?"));
  EXPECT_THAT(base::Message(Prepared(SearchKind(), {{"infile", "x"}})),
              HasSubstr("x has 0 tests"));
  TestSequence one;
  one.add_tests();
  EXPECT_THAT(base::Message(Prepared(SearchKind(),
                                     {{"infile", "x"}, {"loads", "1+z"}}, one)),
              HasSubstr("\"z\" is not a load"));
  EXPECT_THAT(base::Message(Prepared(
                  SearchKind(), {{"infile", "x"}, {"instances", "0"}}, one)),
              HasSubstr("auto or a number"));
  EXPECT_THAT(base::Message(Prepared(NumaKind(), {})),
              HasSubstr("either infile= or pattern="));
  EXPECT_THAT(base::Message(Prepared(ProtectionKind(),
                                     {{"infile", "x"}, {"pattern", "y"}})),
              HasSubstr("exclude each other"));
  EXPECT_THAT(base::Message(Prepared(ProtectionKind(), {})),
              HasSubstr("built storage_service"));
  EXPECT_THAT(
      base::Message(Prepared(HashdParamsKind(), {{"percentile", "100"}})),
      HasSubstr("quantile"));
  EXPECT_THAT(base::Message(Prepared(IoCostParamsKind(), {{"size", "1kB"}})),
              HasSubstr("less than a block"));
  EXPECT_THAT(
      base::Message(Prepared(IoCostParamsKind(), {{"percentile", "100"}})),
      HasSubstr("at most 99.99"));
  EXPECT_THAT(base::Message(Prepared(IoCostParamsKind(), {{"depth", "1025"}})),
              HasSubstr("at most 1024"));
  EXPECT_THAT(base::Message(Prepared(IoCostParamsKind(), {{"dir", "/proc"}})),
              HasSubstr("name a folder"));
  EXPECT_THAT(base::Message(Prepared(CalibrateKind(),
                                     {{"infile", "x"}, {"target", "a"}})),
              HasSubstr("\"a\" is not a target"));
  EXPECT_THAT(base::Message(Prepared(CalibrateKind(),
                                     {{"infile", "x"}, {"target", "a=1ms"}})),
              HasSubstr("no activity_configs entry is named \"a\""));
}

// Found hours later otherwise, when the jobs before it have run.
TEST(JobKindsTest, RpcsThatTheTestDoesNotHaveAreFoundBeforeTheRun) {
  const auto checked = config::CheckTestSequence(base::FromText<TestSequence>(
      R"pb(tests {
             name: "storage"
             services { name: "client" count: 1 }
             services { name: "server" count: 1 }
             rpc_descriptions {
               name: "query"
               client: "client"
               server: "server"
             }
             activity_pools { name: "disk" size: 4 }
             action_lists { name: "client" action_names: "send" }
             action_lists { name: "query" action_names: "serve" }
             actions {
               name: "send"
               rpc_name: "query"
               iterations { rate: "100/s" max_duration: "1s" }
             }
             actions { name: "serve" activity_config_name: "store" }
             activity_configs {
               name: "store"
               pool_name: "disk"
               activity_settings {
                 name: "activity_func"
                 string_value: "Storage"
               }
             }
           })pb"));
  ASSERT_TRUE(checked.ok()) << checked.status();
  const TestSequence& tests = *checked;
  const std::map<std::string, std::string> right = {{"infile", "x"},
                                                    {"slo", "query p99<=1s"}};
  EXPECT_EQ(base::Message(Prepared(RunKind(), right, tests)), "");
  EXPECT_THAT(
      base::Message(Prepared(
          RunKind(), {{"infile", "x"}, {"slo", "qurey p99<=1s"}}, tests)),
      HasSubstr("no RPC is named \"qurey\""));
  EXPECT_EQ(
      base::Message(Prepared(HashdParamsKind(), {{"infile", "x"}}, tests)), "");
  EXPECT_THAT(
      base::Message(Prepared(HashdParamsKind(),
                             {{"infile", "x"}, {"rpc", "qurey"}}, tests)),
      HasSubstr("no RPC is named \"qurey\""));
}

BenchJob Searched(const std::string& verdict) {
  BenchJob job;
  SearchReport& report = *job.mutable_results()->add_searches();
  report.mutable_search()->set_knob("rate");
  report.set_verdict(verdict);
  report.set_load(300);
  AddNumber("base_load", 200, *job.mutable_parameters());
  return job;
}

TEST(SearchJobTest, TheOutcomeFollowsFromTheRecords) {
  BenchJob job = Searched("converged");
  ASSERT_TRUE(SearchKind().Study(job).ok());
  EXPECT_EQ(FindNumber(job.outcome(), kFoundLoad), 300);
  EXPECT_EQ(FindNumber(job.outcome(), kRateFactor), 1.5);
  EXPECT_EQ(job.exit_code(), 0);
}

TEST(SearchJobTest, AFactorIsThatOfARate) {
  BenchJob job = Searched("converged");
  job.mutable_results()->mutable_searches(0)->mutable_search()->set_knob("x");
  ASSERT_TRUE(SearchKind().Study(job).ok());
  EXPECT_EQ(FindNumber(job.outcome(), kRateFactor), std::nullopt);
}

TEST(SearchJobTest, FixedLoadsAreNoCapacity) {
  BenchJob job = Searched("all_met");
  ASSERT_TRUE(SearchKind().Study(job).ok());
  EXPECT_EQ(FindNumber(job.outcome(), kFoundLoad), 300);
  EXPECT_EQ(FindNumber(job.outcome(), kRateFactor), std::nullopt);
}

TEST(SearchJobTest, TheLoadOfCopiesIsNotThatOfOneSystem) {
  BenchJob job = Searched("converged");
  SearchProbe& probe =
      *job.mutable_results()->mutable_searches(0)->add_probes();
  probe.add_instance_statistics();
  probe.add_instance_statistics();
  ASSERT_TRUE(SearchKind().Study(job).ok());
  EXPECT_EQ(FindNumber(job.outcome(), kFoundLoad), 300);
  EXPECT_EQ(FindNumber(job.outcome(), kRateFactor), std::nullopt);
}

TEST(SearchJobTest, VerdictsHaveTheExitStatusesOfTheCommand) {
  for (const char* missed : {"objective_unreachable", "not_all_met"}) {
    BenchJob job = Searched(missed);
    ASSERT_TRUE(SearchKind().Study(job).ok()) << missed;
    EXPECT_EQ(job.exit_code(), 2) << missed;
  }
  for (const char* failed : {"invalid", "unstable", "generator_limited", ""}) {
    BenchJob job = Searched(failed);
    EXPECT_FALSE(SearchKind().Study(job).ok()) << failed;
  }
  BenchJob none;
  EXPECT_FALSE(SearchKind().Study(none).ok());
}

// A disk that does a thousand operations per second, whatever they are.
BenchJob Measured() {
  BenchJob job;
  BlockDeviceFacts& device = *job.add_systems()->add_devices();
  device.set_name("sda");
  device.set_number("8:0");
  AddNumber("percentile", 90, *job.mutable_parameters());
  stats::LogHistogram latencies;
  latencies.RecordN(1'000'000, 1000);
  for (const char* name : {"rbps", "rseqiops", "rrandiops", "wbps", "wseqiops",
                           "wrandiops", "mixed"}) {
    IoPhaseRecord& record = *job.add_io_phases();
    record.set_name(name);
    record.set_block_bytes(4096);
    record.set_duration_ns(1'000'000'000);
    record.set_wanted_read_rate(1000);
    record.set_wanted_write_rate(2000);
    results::EncodeHistogram(latencies, *record.mutable_read_ns());
    results::EncodeHistogram(latencies, *record.mutable_write_ns());
  }
  return job;
}

TEST(IoCostParamsJobTest, TheOutcomeFollowsFromTheRecords) {
  BenchJob job = Measured();
  for (int i = 0; i < 2; ++i) {  // a second study changes nothing
    ASSERT_TRUE(IoCostParamsKind().Study(job).ok());
    EXPECT_EQ(IoCostParamsKind().ResultText(job),
              "iocost model: rbps=4096000 rseqiops=1000 rrandiops=1000\n"
              "              wbps=4096000 wseqiops=1000 wrandiops=1000\n"
              "iocost QoS: rpct=90.00 rlat=1000 wpct=90.00 wlat=1000 "
              "min=75.00 max=100.00\n");
    EXPECT_EQ(FindText(job.outcome(), "device"), "8:0");
  }
}

TEST(IoCostParamsJobTest, LimitsOfTheDiskAreMissedRequirements) {
  BenchJob job = Measured();
  BlockDeviceFacts& device = *job.mutable_systems(0)->mutable_devices(0);
  device.mutable_io_cost()->set_enable(true);
  device.add_other_controllers("io.max");
  device.set_scheduler("bfq");
  ASSERT_TRUE(IoCostParamsKind().Study(job).ok());
  EXPECT_THAT(job.missed_requirements(),
              UnorderedElementsAre(HasSubstr("scheduler bfq"),
                                   HasSubstr("io.cost is on for sda"),
                                   HasSubstr("io.max is set for sda")));
}

TEST(IoCostParamsJobTest, WithoutItsRecordsThereIsNoOutcome) {
  BenchJob job = Measured();
  job.mutable_io_phases()->RemoveLast();
  EXPECT_THAT(base::Message(IoCostParamsKind().Study(job)),
              HasSubstr("mixed was not measured"));
  job = Measured();
  job.clear_systems();
  EXPECT_FALSE(IoCostParamsKind().Study(job).ok());
}

TEST(RunJobTest, AFailedTestFailsTheJob) {
  BenchJob job;
  TestResult& result = *job.mutable_results()->add_test_results();
  result.mutable_traffic_config()->set_name("t");
  result.mutable_run_info()->set_failure("node0 was lost");
  EXPECT_THAT(base::Message(RunKind().Study(job)),
              HasSubstr("test \"t\" did not run to its end: node0 was lost"));
}

TEST(RunJobTest, AStudyJudgesAnewAndKeepsWhatOthersFound) {
  BenchJob job;
  TestResult& result = *job.mutable_results()->add_test_results();
  result.mutable_service_logs();
  // Of a node and of the sequencer, and two that Judge() made.
  for (const char* code :
       {"one_process", "not_steady", "late_start", "nothing_measured"}) {
    result.mutable_run_info()->add_findings()->set_code(code);
  }
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(RunKind().Study(job).ok());
    std::vector<std::string> codes;
    for (const Finding& finding : result.run_info().findings()) {
      codes.push_back(finding.code());
    }
    EXPECT_THAT(codes,
                ElementsAre("one_process", "late_start", "nothing_measured"));
  }
}

TEST(ProtectionJobTest, OmittedCellsAndFalseBaselinesFailTheJob) {
  BenchJob job;
  EXPECT_FALSE(ProtectionKind().Study(job).ok());
  ExperimentReport& report = *job.mutable_results()->add_experiments();
  report.set_capacity_per_second(700);
  TestResult& beside = *job.mutable_results()->add_test_results();
  beside.mutable_experiment_cell()->set_antagonist("hog");
  beside.mutable_run_info()->set_failure("killed");
  ASSERT_TRUE(ProtectionKind().Study(job).ok());
  EXPECT_EQ(FindNumber(job.outcome(), "capacity_per_second"), 700);
  TestResult& baseline = *job.mutable_results()->add_test_results();
  baseline.mutable_run_info()->set_failure("killed");
  // Without a cell, it belongs to the search for the capacity.
  ASSERT_TRUE(ProtectionKind().Study(job).ok());
  baseline.mutable_experiment_cell();
  EXPECT_THAT(base::Message(ProtectionKind().Study(job)),
              HasSubstr("baseline"));
  report.add_omissions("no cell");
  EXPECT_THAT(base::Message(ProtectionKind().Study(job)), HasSubstr("no cell"));
}

// The command `protection` ends with 3, too.
TEST(ProtectionJobTest, ARunWithoutFiguresFailsTheJob) {
  BenchJob job;
  *job.mutable_results() = base::FromText<TestSequenceResults>(
      R"pb(experiments {
             experiment { subject { rpc: "query" objective: "p99<=50ms" } }
           }
           test_results {
             traffic_config { rpc_descriptions { name: "query" } }
             experiment_cell {
               controls: "none"
               antagonist: "hog"
               baseline_start_timestamp_ns: 1000000000
               interfere_start_timestamp_ns: 2000000000
               recover_start_timestamp_ns: 9000000000
             }
           })pb");
  EXPECT_THAT(
      base::Message(ProtectionKind().Study(job)),
      HasSubstr("The cell (controls none, hog) was not measured in repetition "
                "1: nothing of the RPC \"query\" was recorded over time"));
}

TEST(ProtectionJobTest, AnAntagonistThatFailedAloneIsAMissedRequirement) {
  BenchJob job;
  job.mutable_results()->add_experiments();
  TestResult& alone = *job.mutable_results()->add_test_results();
  alone.mutable_experiment_cell()->set_antagonist("hog");
  alone.mutable_experiment_cell()->set_purpose("antagonist_alone");
  ASSERT_TRUE(ProtectionKind().Study(job).ok());
  EXPECT_EQ(job.missed_requirements_size(), 0);
  alone.mutable_run_info()->set_failure("killed");
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(ProtectionKind().Study(job).ok());
  EXPECT_THAT(job.missed_requirements(),
              ElementsAre(HasSubstr("antagonist hog alone failed")));
}

TEST(NumaJobTest, AFailedSearchOrAFalseRunFailsTheJob) {
  BenchJob job;
  EXPECT_FALSE(NumaKind().Study(job).ok());
  NumaDeployment& deployment =
      *job.mutable_results()->mutable_numa_comparison()->add_deployments();
  deployment.set_name("bound");
  deployment.add_cpu_target_searches()->set_verdict("converged");
  TestResult& run = *job.mutable_results()->add_test_results();
  ASSERT_TRUE(NumaKind().Study(job).ok());
  EXPECT_EQ(job.exit_code(), 0);
  run.mutable_run_info()->add_findings()->set_severity(Finding::INVALID);
  EXPECT_THAT(base::Message(NumaKind().Study(job)), HasSubstr("is invalid"));
  run.clear_run_info();
  SearchReport& failed = *deployment.add_objective_searches();
  failed.set_verdict("failed");
  failed.set_evidence("node0 was lost");
  EXPECT_THAT(base::Message(NumaKind().Study(job)),
              HasSubstr("a search in deployment bound failed: node0 was lost"));
}

const MemoryHogOptions kHogOptions = {.objective = "p95<=75ms",
                                      .load = "80%",
                                      .hog_bytes = 4096,
                                      .interfere = "60s",
                                      .stabilise = "30s",
                                      .repetitions = 2};

TEST(StorageSubjectTest, TheHogRunsBesideEveryServer) {
  DistributedSystemDescription test =
      base::FromText<DistributedSystemDescription>(
          R"pb(rpc_descriptions { name: "a" client: "c" server: "s" }
               rpc_descriptions { name: "b" client: "c" server: "s" })pb");
  AddMemoryHog(kHogOptions, test);
  const Experiment& experiment = test.experiment();
  EXPECT_EQ(experiment.repeat(), 2);
  EXPECT_EQ(experiment.phases().interfere(), "60s");
  ASSERT_EQ(experiment.controls_size(), 1);
  EXPECT_THAT(experiment.controls(0).groups(0).services(), ElementsAre("s"));
  EXPECT_THAT(experiment.controls(0).groups(1).services(),
              ElementsAre("antagonist_memory_hog"));
  ASSERT_EQ(test.activity_configs_size(), 1);
  EXPECT_EQ(test.activity_configs(0).activity_settings(1).int64_value(), 4096);
}

TEST(StorageSubjectTest, TheHogMayTakeAllMemoryUnlessTheTestSaysOtherwise) {
  DistributedSystemDescription test;
  AddMemoryHog(kHogOptions, test);
  EXPECT_EQ(test.overload_limits().max_memory_bytes(),
            std::numeric_limits<int64_t>::max());
  DistributedSystemDescription limited;
  limited.mutable_overload_limits()->set_max_memory_bytes(1 << 20);
  AddMemoryHog(kHogOptions, limited);
  EXPECT_EQ(limited.overload_limits().max_memory_bytes(), 1 << 20);
}

}  // namespace
}  // namespace distbench::bench
