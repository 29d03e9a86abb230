// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/comparability.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison/gate.h"
#include "distbench/report/comparison/testing/made_runs.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// What else differs between the groups of the only test.
std::vector<std::string> DifferencesOf(
    const std::vector<TestComparison>& comparisons) {
  std::vector<std::string> differences;
  for (const Circumstance& circumstance : comparisons.at(0).circumstances) {
    if (!circumstance.differs()) continue;
    differences.push_back(DescribeCircumstance(circumstance, "new"));
  }
  return differences;
}

TEST(ComparabilityTest, SeedsNamesAndLabelsDoNotMatterAndConditionsAreNoted) {
  TestResult other = RunOf(1000);
  DistributedSystemDescription& config = *other.mutable_traffic_config();
  config.set_random_seed(77);
  config.set_name("u");
  (*config.mutable_attributes())["label"] = "x";
  EXPECT_THAT(DifferencesOf(Compared({RunOf(1000)}, {other})), IsEmpty());
  config.set_default_protocol("tcp");
  (*other.mutable_resource_usage_logs()->mutable_node_resources())["node0"]
      .mutable_host()
      ->set_kernel("6.2");
  EXPECT_THAT(DifferencesOf(Compared({RunOf(1000)}, {other})),
              ElementsAre(HasSubstr("protocol drivers"),
                          "kernel: base not known, new 6.2"));
}

TestResult SimulatedRunOf(int64_t latency_ns) {
  TestResult result = RunOf(latency_ns);
  result.mutable_simulation()->set_host_count(7);
  return result;
}

TEST(ComparabilityTest, RealAndSimulatedAreComparedAndItIsSaid) {
  const auto comparisons = Compared({RunOf(1000)}, {SimulatedRunOf(1000)});
  EXPECT_EQ(comparisons[0].not_comparable, "");
  EXPECT_EQ(comparisons[0].origins, "base is real, new is simulated");
  EXPECT_THAT(DescribeComparisons(comparisons),
              HasSubstr("note: base is real, new is simulated\n"));
  EXPECT_THAT(DifferencesOf(comparisons),
              ElementsAre("simulated fabric: base not known, new 7 hosts, "));
  EXPECT_EQ(Compared({SimulatedRunOf(1)}, {SimulatedRunOf(1)})[0].origins,
            "base and new are simulated");
  EXPECT_EQ(Compared({RunOf(1)}, {RunOf(1)})[0].origins, "");
}

TEST(ComparabilityTest, RealAndSimulatedRunsMakeNoGroup) {
  const auto comparisons = Compared({RunOf(1)}, {RunOf(1), SimulatedRunOf(1)});
  EXPECT_EQ(comparisons[0].not_comparable,
            "new has real and simulated runs of it; give one kind only");
  EXPECT_THAT(comparisons[0].rpcs, IsEmpty());
}

TEST(ComparabilityTest, GatesBetweenRealAndSimulatedSaySo) {
  const auto comparisons = Compared(
      {RunOf(1000), RunOf(1001)}, {SimulatedRunOf(1000), SimulatedRunOf(1001)});
  const std::vector<Check> checks =
      JudgeGates({*ParseGate("p50>50%")}, comparisons);
  EXPECT_THAT(checks[0].evidence, EndsWith("; base is real, new is simulated"));
}

TEST(ComparabilityTest, SimulatedRunsHaveNoNoiseFloorOfRealOnes) {
  CompareOptions options;
  std::vector<TestResult> simulated(10, SimulatedRunOf(1000));
  const auto noise = Sourced(std::move(simulated));
  options.noise_runs = ListRuns(noise);
  EXPECT_THAT(Compared({RunOf(1000)}, {RunOf(1000)}, options)[0].notes,
              Contains(HasSubstr("those of base are real")));
}

TEST(ComparabilityTest, ControlsAreAConditionAndNotTraffic) {
  TestResult other = RunOf(1000);
  ControlSet& controls = *other.mutable_traffic_config()->mutable_controls();
  controls.set_name("none");
  controls.set_strict(false);
  const auto with_neither = Compared({RunOf(1000)}, {other});
  EXPECT_THAT(DifferencesOf(with_neither), IsEmpty());
  EXPECT_THAT(with_neither[0].circumstances,
              Not(Contains(Field(&Circumstance::name, "controls"))));
  ControlGroup& group = *controls.add_groups();
  group.add_services("server");
  group.set_cpu_weight(50);
  const auto compared = Compared({RunOf(1000)}, {other});
  EXPECT_THAT(compared[0].not_comparable, IsEmpty());
  EXPECT_THAT(
      DifferencesOf(compared),
      ElementsAre(AllOf(HasSubstr("controls: "), HasSubstr("cpu_weight: 50"))));
}

TEST(ComparabilityTest, SettingsOfTheKernelAreNoted) {
  const auto facts = [](const char* text) {
    TestResult result = RunOf(1000);
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        text, (*result.mutable_resource_usage_logs()
                    ->mutable_node_resources())["node0"]
                  .mutable_host()));
    return result;
  };
  const TestResult base = facts(R"pb(
    is_smt_active: true
    is_cpu_boost_enabled: true
    idle_states: [ "POLL", "C1" ]
    mitigations { key: "mds" value: "Not affected" }
    mitigations { key: "retbleed" value: "Vulnerable" }
    transparent_huge_pages: "madvise"
    tcp_congestion_control: "cubic"
    tcp_ecn_mode: 2
    default_queueing_discipline: "fq"
  )pb");
  EXPECT_THAT(DifferencesOf(Compared({base}, {base})), IsEmpty());
  const TestResult other = facts(R"pb(
    is_smt_active: false
    is_cpu_boost_enabled: false
    idle_states: [ "POLL" ]
    mitigations { key: "retbleed" value: "Mitigation: untrained" }
    transparent_huge_pages: "always"
    tcp_congestion_control: "bbr"
    tcp_ecn_mode: 0
    default_queueing_discipline: "pfifo_fast"
  )pb");
  EXPECT_THAT(
      DifferencesOf(Compared({base}, {other})),
      ElementsAre("SMT: base on, new off", "CPU boost: base on, new off",
                  "idle states: base POLL C1, new POLL",
                  "mitigations: base retbleed: Vulnerable, new retbleed: "
                  "Mitigation: untrained",
                  "transparent huge pages: base madvise, new always",
                  "TCP congestion control: base cubic, new bbr",
                  "TCP ECN mode: base 2, new 0",
                  "default queueing discipline: base fq, new pfifo_fast"));
}

TEST(ComparabilityTest, EnginesAndVersionsOfGrpcAreNoted) {
  const auto run = [](const std::string& grpc, const std::string& engine) {
    TestResult result = RunOf(1000);
    ServiceEndpoint& endpoint =
        (*result.mutable_placement()->mutable_service_endpoints())["s/0"];
    endpoint.set_node_alias("node0");
    if (!engine.empty()) endpoint.set_engine(engine);
    (*(*result.mutable_resource_usage_logs()->mutable_node_resources())["node0"]
          .mutable_host()
          ->mutable_versions())["grpc"] = grpc;
    return result;
  };
  EXPECT_THAT(DifferencesOf(Compared({run("1.51.1", "")}, {run("1.71.0", "")})),
              ElementsAre("gRPC: base 1.51.1, new 1.71.0"));
  EXPECT_THAT(
      DifferencesOf(Compared({run("1.51.1", "")}, {run("1.51.1", "new")})),
      ElementsAre("engines: base the nodes' own program, new new"));
}

TEST(ComparabilityTest, CircumstancesOfIncomparableTestsAreKnown) {
  const auto on_nodes = [](int count) {
    TestResult result = RunOf(1000);
    auto& endpoints = *result.mutable_placement()->mutable_service_endpoints();
    for (int i = 0; i < count; ++i) {
      endpoints[absl::StrCat("c/", i)].set_node_alias(absl::StrCat("node", i));
    }
    return result;
  };
  TestResult failed = on_nodes(3);
  failed.mutable_run_info()->set_failure("node1 was lost");
  const auto compared = Compared({on_nodes(2)}, {failed});
  EXPECT_TRUE(compared[0].is_invalid);
  EXPECT_THAT(DifferencesOf(compared),
              ElementsAre("number of nodes: base 2, new 3"));
  EXPECT_THAT(DescribeComparisons(compared),
              HasSubstr("  note: number of nodes: base 2, new 3\n"));
}

}  // namespace
}  // namespace distbench::report
