// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/stacks/stacks.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/json.h"
#include "distbench/base/message_json.h"
#include "distbench/base/plugins.h"
#include "distbench/report/comparison/testing/fake_run_metrics.h"
#include "distbench/report/comparison/testing/made_runs.h"
#include "distbench/report/parts/report_format.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::stacks {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

struct MadeRun {
  std::string driver = "tcp";
  int64_t latency_ns = 1000;
  double client_cpu_s = 1;
  double server_cpu_s = 3;
  std::string traffic = "max_iteration_count: 100";
  std::string settings = "";
};

// 10 000 RPCs within a second.
TestResult Make(const MadeRun& made) {
  TestResult result = report::RunOf(made.latency_ns);
  *result.mutable_traffic_config() =
      report::ResultFromText(
          absl::StrCat(
              R"pb(traffic_config { name: "test over )pb", made.driver,
              R"pb("
                   default_protocol: ")pb",
              made.driver,
              R"pb("
                   services { name: "c" count: 1 }
                   services { name: "s" count: 1 }
                   rpc_descriptions { name: "query" client: "c" server: "s" }
                   action_lists { name: "c" action_names: "run" }
                   action_lists { name: "query" }
                   actions { name: "run" rpc_name: "query" iterations {)pb",
              made.traffic, " } } ", made.settings, "}"))
          .traffic_config();
  auto& usages = *(*result.mutable_resource_usage_logs()
                        ->mutable_node_resources())["node0"]
                      .mutable_engine_usages();
  usages["c/0"].set_user_cpu_time_seconds(made.client_cpu_s);
  usages["s/0"].set_system_cpu_time_seconds(made.server_cpu_s);
  return result;
}

base::Json Compare(std::vector<TestResult> results) {
  const auto sourced = report::Sourced(std::move(results));
  return base::MessageJson(CompareStacks(report::ListRuns(sourced)).reported);
}

// The first load of the first study, which there has to be.
const base::Json& LoadOf(const base::Json& comparison) {
  return comparison.at("studies").at(0).at("loads").at(0);
}

// How the second stack differs from the first in the metric.
base::Json ChangeOf(const base::Json& comparison, const std::string& metric) {
  for (const base::Json& change : LoadOf(comparison).at("changes")) {
    if (change.at("metric") == metric) return change;
  }
  ADD_FAILURE() << metric << " is not among the changes";
  return {};
}

// The report in a format.
absl::StatusOr<std::string> Written(const std::string& format,
                                    const std::vector<report::TestRun>& runs) {
  std::string text;
  const absl::Status status =
      base::Plugins<report::ReportFormat>::Find(format)->write(
          {.runs = runs}, {},
          [&](absl::string_view bytes) { absl::StrAppend(&text, bytes); });
  if (!status.ok()) return status;
  return text;
}

TEST(CompareStacksTest, SetsDriversOfTheSameTrafficBesideEachOther) {
  const base::Json comparison =
      Compare({Make({.driver = "grpc", .latency_ns = 3000}), Make({})});
  EXPECT_THAT(comparison["stacks"], ElementsAre("grpc", "tcp"));
  ASSERT_THAT(comparison["studies"], SizeIs(1));
  ASSERT_THAT(comparison["studies"][0]["loads"], SizeIs(1));
  const base::Json& rows = LoadOf(comparison)["rows"];
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0]["stack"], "grpc");
  EXPECT_THAT(rows[0]["tests"], ElementsAre(0));
  EXPECT_THAT(rows[1]["tests"], ElementsAre(1));
  // 4, 1 and 3 seconds for 10 000 RPCs.
  EXPECT_THAT(rows[0]["cpu_ns"], ElementsAre(400'000));
  EXPECT_THAT(rows[0]["client_cpu_ns"], ElementsAre(100'000));
  EXPECT_THAT(rows[0]["server_cpu_ns"], ElementsAre(300'000));
  EXPECT_THAT(comparison["omissions"], IsEmpty());
  EXPECT_NEAR(ChangeOf(comparison, "p99")["ratio"].get<double>(), 0.333, 0.01);
  EXPECT_EQ(ChangeOf(comparison, "p99")["rpc"], "query");
}

TEST(CompareStacksTest, SingleRunsProveNothing) {
  const base::Json comparison =
      Compare({Make({.driver = "grpc", .latency_ns = 3000}),
               Make({.server_cpu_s = 1})});
  for (const base::Json& change : LoadOf(comparison)["changes"]) {
    EXPECT_EQ(change["verdict"], "not shown");
  }
  EXPECT_TRUE(ChangeOf(comparison, "rate")["lower"].is_null());
}

// Three runs of each; tcp takes half of the CPU time.
std::vector<TestResult> ThreeRunsOfEach() {
  std::vector<TestResult> results;
  for (int i = 0; i < 3; ++i) {
    results.push_back(Make(
        {.driver = "grpc", .latency_ns = 1000, .server_cpu_s = 7 + i * .01}));
    results.push_back(Make({.latency_ns = 1000, .server_cpu_s = 3 + i * .01}));
  }
  return results;
}

TEST(CompareStacksTest, ChangesAreWhatTheIntervalsShow) {
  const base::Json comparison = Compare(ThreeRunsOfEach());
  const base::Json load = LoadOf(comparison);
  EXPECT_EQ(load["rows"][0]["runs"], 3);
  EXPECT_THAT(load["rows"][0]["tests"], ElementsAre(0, 2, 4));
  EXPECT_THAT(load["rows"][1]["cpu_ns"],
              ElementsAre(400'000, 401'000, 402'000));
  const base::Json cpu = ChangeOf(comparison, "CPU per RPC");
  EXPECT_EQ(cpu["verdict"], "better");
  EXPECT_NEAR(cpu["ratio"].get<double>(), 0.501, 0.0005);
  EXPECT_LT(cpu["lower"].get<double>(), 0.501);
  EXPECT_GT(cpu["upper"].get<double>(), 0.501);
  EXPECT_TRUE(cpu["rpc"].is_null());
  for (const char* metric : {"rate", "p50", "p99", "p99.9"}) {
    EXPECT_EQ(ChangeOf(comparison, metric)["verdict"], "no difference");
  }
}

TEST(CompareStacksTest, HasWhatIsMeasuredOfWholeRuns) {
  std::vector<TestResult> results = ThreeRunsOfEach();
  for (size_t i = 0; i < results.size(); ++i) {
    report::AddRunMetric({.name = "queue", .value = i % 2 == 0 ? 10.0 : 20.0},
                         results[i]);
  }
  const base::Json change = ChangeOf(Compare(results), "metric:queue");
  EXPECT_EQ(change["verdict"], "differs");
  EXPECT_NEAR(change["ratio"].get<double>(), 2, 1e-9);
  EXPECT_TRUE(change["rpc"].is_null());
}

TEST(CompareStacksTest, LoadsOfOneWorkAreAStudy) {
  const std::string more = "max_iteration_count: 200";
  const base::Json comparison = Compare(
      {Make({.driver = "grpc"}), Make({.driver = "grpc", .traffic = more}),
       Make({}), Make({.traffic = more})});
  ASSERT_THAT(comparison["studies"], SizeIs(1));
  EXPECT_THAT(comparison["studies"][0]["loads"], SizeIs(2));
}

TEST(CompareStacksTest, OtherTrafficIsLeftOutWithTheDifference) {
  const base::Json comparison = Compare(
      {Make({.driver = "grpc"}), Make({.traffic = "max_iteration_count: 99"})});
  EXPECT_THAT(comparison["studies"], IsEmpty());
  ASSERT_THAT(comparison["omissions"], SizeIs(2));
  EXPECT_THAT(comparison["omissions"][1].get<std::string>(),
              AllOf(HasSubstr("test over tcp (file.pb) is the only one"),
                    HasSubstr("over grpc, differs: modified: actions[0]"),
                    HasSubstr("100 -> 99")));
}

TEST(CompareStacksTest, TheFirstStackIsTheSameUnderEveryLoad) {
  const std::string more = "max_iteration_count: 200";
  const base::Json comparison =
      Compare({Make({.driver = "grpc"}), Make({}), Make({.traffic = more}),
               Make({.driver = "grpc", .traffic = more})});
  ASSERT_THAT(comparison["studies"][0]["loads"], SizeIs(2));
  for (const base::Json& load : comparison["studies"][0]["loads"]) {
    EXPECT_EQ(load["rows"][0]["stack"], "grpc");
  }
}

TEST(CompareStacksTest, InvalidRunsAreLeftOutWithTheReason) {
  TestResult failed = Make({});
  failed.mutable_run_info()->set_failure("a node was lost");
  const base::Json comparison =
      Compare({Make({.driver = "grpc"}), std::move(failed),
               Make({.driver = "thrift"})});
  EXPECT_THAT(LoadOf(comparison)["rows"], SizeIs(2));
  EXPECT_THAT(LoadOf(comparison)["rows"][1]["tests"], ElementsAre(2));
  EXPECT_THAT(
      comparison["omissions"],
      ElementsAre(HasSubstr("did not run to its end: a node was lost")));
}

TEST(CompareStacksTest, ResultsOfOneDriverAreNotAboutStacks) {
  const base::Json comparison =
      Compare({Make({}), Make({.traffic = "max_iteration_count: 99"})});
  EXPECT_THAT(comparison["studies"], IsEmpty());
  EXPECT_THAT(comparison["omissions"], IsEmpty());
}

TEST(CompareStacksTest, PercentilesAmongFailuresAreNotCompared) {
  TestResult failing = Make({});
  report::StatisticsOf(failing).set_failed_count(1000);
  const base::Json comparison =
      Compare({Make({.driver = "grpc"}), std::move(failing)});
  for (const char* metric : {"p99", "p99.9"}) {
    const base::Json change = ChangeOf(comparison, metric);
    EXPECT_EQ(change["verdict"], "not comparable");
    EXPECT_TRUE(change["ratio"].is_null());
  }
}

TEST(CompareStacksTest, CpuOfLostProcessesIsNotKnown) {
  TestResult lost = Make({});
  auto& endpoints = *lost.mutable_placement()->mutable_service_endpoints();
  for (const char* name : {"c/0", "s/0", "s/1"}) endpoints[name];
  const base::Json comparison =
      Compare({Make({.driver = "grpc"}), std::move(lost)});
  EXPECT_THAT(LoadOf(comparison)["rows"][1]["cpu_ns"], IsEmpty());
  for (const base::Json& change : LoadOf(comparison)["changes"]) {
    EXPECT_NE(change["metric"], "CPU per RPC");
  }
}

// Tests of the same traffic that are called differently are repetitions.
TEST(CompareStacksTest, NamesOfTestsAreNoTraffic) {
  const auto sourced = report::Sourced(
      {Make({.driver = "grpc"}), Make({.driver = "grpc"}), Make({})});
  auto runs = report::ListRuns(sourced);
  runs[1].name = "another name";
  const base::Json comparison = base::MessageJson(CompareStacks(runs).reported);
  const base::Json& load = LoadOf(comparison);
  EXPECT_THAT(load["rows"][0]["tests"], ElementsAre(0, 1));
  EXPECT_EQ(ChangeOf(comparison, "p99")["verdict"], "not shown");
}

TEST(CompareStacksTest, SettingsTellEqualDriversApart) {
  const std::string four =
      "protocol_driver_options { name: 'default_protocol_driver_options' "
      "client_settings { name: 'connections' int64_value: 4 } }";
  EXPECT_THAT(
      Compare({Make({}), Make({.settings = four}), Make({.driver = "grpc"})})
          .at("stacks"),
      ElementsAre("tcp (defaults)", "tcp (client connections=4)", "grpc"));
}

TEST(StacksTextTest, IsTheComparisonOfEachWithTheFirst) {
  const auto sourced = report::Sourced(ThreeRunsOfEach());
  const auto text = Written("stacks", report::ListRuns(sourced));
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr("tcp (new) compared with grpc (base)\nTest: "));
  // Which does not count the CPU times.
  EXPECT_THAT(*text, Not(HasSubstr("Result:")));
  EXPECT_THAT(*text, HasSubstr("(base: 3 runs, new: 3 runs)"));
  EXPECT_THAT(*text, HasSubstr("query, service time:"));
  EXPECT_THAT(*text, HasSubstr("CPU per RPC 801 us -> 401 us, x0.501 ("));
  EXPECT_THAT(*text, HasSubstr("server CPU 701 us -> 301 us, x0.4"));
}

TEST(StacksTextTest, MarkdownEscapesNames) {
  const auto sourced = report::Sourced({Make({.driver = "grpc"}), Make({})});
  auto runs = report::ListRuns(sourced);
  runs[0].name = runs[1].name = "@someone|else";
  const auto text = Written("stacks_markdown", runs);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, AllOf(HasSubstr("Base: grpc (1 run), new: tcp (1 run)"),
                           HasSubstr("- CPU per RPC 400 us "),
                           Not(HasSubstr("@someone|else"))));
}

TEST(StacksTextTest, NothingToCompareIsAnErrorWithTheReason) {
  const auto sourced = report::Sourced({Make({})});
  EXPECT_THAT(Written("stacks", report::ListRuns(sourced)).status().message(),
              AllOf(HasSubstr("no stacks to compare"),
                    HasSubstr("PATTERN:{grpc,tcp}")));
}

}  // namespace
}  // namespace distbench::stacks
