#include "distbench/products/stacks/stacks.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/json.h"
#include "distbench/base/message_json.h"
#include "distbench/products/stacks/stack_values.h"
#include "distbench/report/comparison/testing/made_runs.h"
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
  return base::MessageJson(CompareStacks(report::ListRuns(sourced)));
}

// The first load of the first study, which there has to be.
base::Json LoadOf(const base::Json& comparison) {
  return comparison.at("studies").at(0).at("loads").at(0);
}

TEST(CompareStacksTest, SetsDriversOfTheSameTrafficBesideEachOther) {
  const base::Json comparison =
      Compare({Make({.driver = "grpc", .latency_ns = 3000}), Make({})});
  ASSERT_THAT(comparison["studies"], SizeIs(1));
  const base::Json& study = comparison["studies"][0];
  EXPECT_EQ(study["rpc"], "query");
  EXPECT_EQ(study["latency"], "service_time");
  EXPECT_THAT(study["stacks"], ElementsAre("grpc", "tcp"));
  ASSERT_THAT(study["loads"], SizeIs(1));
  const base::Json& rows = study["loads"][0]["rows"];
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_NEAR(rows[0]["p99_ns"]["value"].get<double>(), 3000, 30);
  EXPECT_NEAR(rows[1]["p99_ns"]["value"].get<double>(), 1000, 10);
  EXPECT_FALSE(rows[1]["p99_ns"]["lower"].is_null());
  // 4, 1 and 3 seconds for 10 000 RPCs.
  EXPECT_EQ(rows[0]["cpu_ns"]["value"], 400'000);
  EXPECT_EQ(rows[0]["client_cpu_ns"]["value"], 100'000);
  EXPECT_EQ(rows[0]["server_cpu_ns"]["value"], 300'000);
  EXPECT_TRUE(rows[0]["network_share"].is_null());
  EXPECT_THAT(comparison["omissions"], IsEmpty());
}

TEST(CompareStacksTest, SingleRunsProveNothing) {
  const base::Json comparison =
      Compare({Make({.driver = "grpc", .latency_ns = 3000}),
               Make({.server_cpu_s = 1})});
  const base::Json load = LoadOf(comparison);
  for (const base::Json& change : load["changes"]) {
    EXPECT_EQ(change["verdict"], "not shown");
  }
  EXPECT_THAT(
      load["sentences"],
      ElementsAre(AllOf(HasSubstr("tcp compared with grpc: unknown: rate, p50"),
                        HasSubstr("--repeat=5"), Not(HasSubstr("times the")))));
}

TEST(CompareStacksTest, SentencesSayWhatTheIntervalsShow) {
  std::vector<TestResult> results;
  for (int i = 0; i < 3; ++i) {
    results.push_back(Make(
        {.driver = "grpc", .latency_ns = 1000, .server_cpu_s = 7 + i * .01}));
    results.push_back(Make({.latency_ns = 1000, .server_cpu_s = 3 + i * .01}));
  }
  const base::Json comparison = Compare(std::move(results));
  const base::Json load = LoadOf(comparison);
  EXPECT_EQ(load["rows"][0]["runs"], 3);
  const base::Json& cpu = load["rows"][1]["cpu_ns"];
  EXPECT_DOUBLE_EQ(cpu["value"].get<double>(), 401'000);
  EXPECT_DOUBLE_EQ(cpu["lower"].get<double>(), 400'000);
  EXPECT_DOUBLE_EQ(cpu["upper"].get<double>(), 402'000);
  EXPECT_THAT(
      load["sentences"],
      ElementsAre(AllOf(
          HasSubstr("tcp compared with grpc: 0.501 times the CPU per RPC (0."),
          HasSubstr("; no difference shown: rate, p50, p99, p99.9"))));
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
  for (const base::Json& load : comparison["studies"][0]["loads"]) {
    EXPECT_EQ(load["rows"][0]["stack"], "grpc");
  }
}

TEST(CompareStacksTest, InvalidRunsAreLeftOutWithTheReason) {
  TestResult failed = Make({});
  failed.mutable_run_info()->set_failure("a node was lost");
  const base::Json comparison =
      Compare({Make({.driver = "grpc"}), Make({.driver = "thrift"}),
               std::move(failed)});
  EXPECT_THAT(LoadOf(comparison)["rows"], SizeIs(2));
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

TEST(CompareStacksTest, PercentilesAmongFailuresAreNoLatencies) {
  TestResult failing = Make({});
  report::StatisticsOf(failing).set_failed_count(1000);
  const base::Json comparison =
      Compare({Make({.driver = "grpc"}), std::move(failing)});
  const base::Json load = LoadOf(comparison);
  EXPECT_TRUE(load["rows"][1]["p99_ns"]["value"].is_null());
  EXPECT_EQ(load["rows"][1]["p99_ns"]["failed"], true);
  EXPECT_THAT(load["sentences"],
              ElementsAre(HasSubstr("not measured by all runs: p99, p99.9")));
}

TEST(CompareStacksTest, CpuOfLostProcessesIsNotKnown) {
  TestResult lost = Make({});
  auto& endpoints = *lost.mutable_placement()->mutable_service_endpoints();
  for (const char* name : {"c/0", "s/0", "s/1"}) endpoints[name];
  const base::Json comparison =
      Compare({Make({.driver = "grpc"}), std::move(lost)});
  EXPECT_TRUE(LoadOf(comparison)["rows"][1]["cpu_ns"].is_null());
}

TEST(NameStacksTest, SettingsTellEqualDriversApart) {
  const std::string four =
      "protocol_driver_options { name: 'default_protocol_driver_options' "
      "client_settings { name: 'connections' int64_value: 4 } }";
  const auto sourced = report::Sourced(
      {Make({}), Make({.settings = four}), Make({.driver = "grpc"})});
  EXPECT_THAT(
      NameStacks(report::ListRuns(sourced)),
      ElementsAre("tcp (defaults)", "tcp (client connections=4)", "grpc"));
}

TEST(StacksTextTest, IsATableForEachLoad) {
  const auto sourced = report::Sourced({Make({.driver = "grpc"}), Make({})});
  const auto text =
      StacksText(CompareStacks(report::ListRuns(sourced)), StacksFormat::kText);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr("Stacks: grpc, tcp; RPC query, latency is "
                               "service time\nAs test over\n"));
  EXPECT_THAT(*text, HasSubstr("CPU per RPC"));
  EXPECT_THAT(*text, Not(HasSubstr("network")));
}

// Returns what the load of these two is called.
std::string LoadName(const std::string& grpc_test,
                     const std::string& tcp_test) {
  const auto sourced = report::Sourced({Make({.driver = "grpc"}), Make({})});
  auto runs = report::ListRuns(sourced);
  runs[0].name = grpc_test;
  runs[1].name = tcp_test;
  return LoadOf(base::MessageJson(CompareStacks(runs)))["test"];
}

TEST(CompareStacksTest, ALoadIsCalledAsWhatItsTestsHaveInCommon) {
  EXPECT_EQ(LoadName("fan_2x3-grpc_polling", "fan_2x3-tcp"), "fan_2x3");
  EXPECT_EQ(LoadName("fan_2x3-thrift", "fan_2x3-tcp"), "fan_2x3");
  EXPECT_EQ(LoadName("fan", "fan_tcp"), "fan");
  EXPECT_EQ(LoadName("fan2", "fan23"), "fan2");
  EXPECT_EQ(LoadName("one", "other"), "one");
}

TEST(StacksTextTest, MarkdownEscapesNames) {
  const auto sourced = report::Sourced({Make({.driver = "grpc"}), Make({})});
  auto runs = report::ListRuns(sourced);
  runs[0].name = runs[1].name = "@someone|else";
  const auto text = StacksText(CompareStacks(runs), StacksFormat::kMarkdown);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, AllOf(HasSubstr("## "), HasSubstr("| stack | runs |"),
                           Not(HasSubstr("@someone|else"))));
}

TEST(StacksTextTest, NothingToCompareIsAnErrorWithTheReason) {
  const auto sourced = report::Sourced({Make({})});
  EXPECT_THAT(
      StacksText(CompareStacks(report::ListRuns(sourced)), StacksFormat::kText)
          .status()
          .message(),
      AllOf(HasSubstr("no stacks to compare"),
            HasSubstr("PATTERN:{grpc,tcp}")));
}

}  // namespace
}  // namespace distbench::stacks
