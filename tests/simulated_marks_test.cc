// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Nobody shall take simulated figures for measured ones. This test goes through
// all formats that there are, so that a new one cannot forget the mark: those
// of products, too.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/base/files.h"
#include "distbench/cli/command_line.h"
#include "distbench/cli/commands.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/testing/example_result.h"
#include "distbench/results/result_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using AddCommand = decltype(Command::add);

constexpr char kRpc[] = "rpc_0";

// Adds the samples and traces of some RPCs to the first pair of instances.
void AddTraces(TestResult& result) {
  auto& logs = *result.mutable_service_logs()->mutable_instance_logs();
  auto& peers = *logs.begin()->second.mutable_peer_logs();
  RpcPerformanceLog& log = (*peers.begin()->second.mutable_rpc_logs())[0];
  for (int i = 0; i < 200; ++i) {
    RpcSample& sample = *log.add_successful_rpc_samples();
    sample.set_start_timestamp_ns(1'700'000'000'000'000'000 + i * 1'000'000);
    sample.set_latency_ns(100'000 + i * 1'000);
    TraceContext& context = *sample.mutable_trace_context();
    context.add_engine_ids(0);
    context.add_actionlist_indices(0);
    context.add_actionlist_invocations(0);
    context.add_action_indices(0);
    context.add_action_iterations(i);
    context.add_fanout_index(0);
  }
}

TestResult MakeResult(const std::string& name, const std::string& driver,
                      bool is_simulated) {
  TestResult result = report::MakeExampleResult({.name = name, .seconds = 2});
  AddTraces(result);
  DistributedSystemDescription& test = *result.mutable_traffic_config();
  test.set_default_protocol(driver);
  test.add_services()->set_name("client");
  test.add_objectives(absl::StrCat(kRpc, " p50<=1s"));
  if (is_simulated) result.mutable_simulation()->set_host_count(2);
  return result;
}

std::string Written(const std::string& name,
                    const TestSequenceResults& results) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  EXPECT_TRUE(
      results::WriteResults(results, path, results::ResultEncoding::kBinary)
          .ok());
  return path;
}

// Two tests over different drivers.
std::string WrittenTests(bool is_simulated) {
  TestSequenceResults results;
  *results.add_test_results() = MakeResult("a", "grpc", is_simulated);
  *results.add_test_results() = MakeResult("b", "tcp", is_simulated);
  return Written(is_simulated ? "simulated.pb" : "real.pb", results);
}

std::string WrittenSearch(bool is_simulated) {
  TestSequenceResults results;
  *results.add_test_results() = MakeResult("c", "grpc", is_simulated);
  SearchReport& report = *results.add_searches();
  report.mutable_search()->set_knob("rate");
  report.mutable_search()->add_objectives(absl::StrCat(kRpc, " p99<=1s"));
  report.add_probes()->set_number(1);
  report.set_simulated(is_simulated);
  return Written(is_simulated ? "simulated_search.pb" : "real_search.pb",
                 results);
}

// A test with RPCs between instances of the same service.
std::string WrittenPairs(bool is_simulated) {
  TestSequenceResults results;
  TestResult& result = *results.add_test_results();
  result = MakeResult("d", "grpc", is_simulated);
  auto& logs = *result.mutable_service_logs()->mutable_instance_logs();
  auto& peers = *logs["client/0"].mutable_peer_logs();
  peers["client/1"] = peers.begin()->second;
  auto& places = *result.mutable_placement()->mutable_service_endpoints();
  places["client/0"].set_node_alias("node0");
  places["client/1"].set_node_alias("node1");
  return Written(is_simulated ? "simulated_pairs.pb" : "real_pairs.pb",
                 results);
}

// The choices of a flag, of which its help has a line each: "  NAME: text".
std::vector<std::string> ChoicesOf(AddCommand add, const std::string& flag) {
  CLI::App app;
  CommandBody body;
  add(app, body);
  std::vector<std::string> names;
  const CLI::App& command =
      *app.get_subcommands([](CLI::App*) { return true; }).front();
  for (absl::string_view line :
       absl::StrSplit(command.get_option(flag)->get_description(), '\n')) {
    const size_t colon = line.find(':');
    if (!absl::StartsWith(line, "  ") || colon == line.npos) continue;
    names.emplace_back(line.substr(2, colon - 2));
  }
  return names;
}

// What the command writes.
std::string OutputOf(AddCommand add, std::vector<std::string> arguments) {
  const std::string path = absl::StrCat(testing::TempDir(), "/output");
  arguments.insert(arguments.end(), {"-o", path});
  EXPECT_EQ(RunCommandLine({{HelpSection::kOutcomes, add}}, arguments,
                           flags::NoEnvironment()),
            report::kExitOk)
      << arguments[1];
  const auto output = base::ReadFile(path);
  EXPECT_TRUE(output.ok()) << output.status();
  return output.ok() ? *output : "";
}

bool HasMark(const std::string& output) {
  for (const char* mark :
       {"(simulated)", "Simulated", "\"simulated\":true", "\"simulated\": true",
        "simulated=\"true\"", "distbench.simulated"}) {
    if (absl::StrContains(output, mark)) return true;
  }
  return false;
}

std::string Report(const std::string& format, bool is_simulated) {
  std::vector<std::string> arguments = {"report"};
  if (format == "benchpress") {
    arguments.push_back(WrittenSearch(is_simulated));
  } else if (format == "all_pairs") {
    arguments.push_back(WrittenPairs(is_simulated));
  } else {
    arguments.push_back(WrittenTests(is_simulated));
  }
  arguments.push_back("--format=" + format);
  if (format == "hdr" || format == "hlog") {
    arguments.insert(arguments.end(),
                     {"--test=a", absl::StrCat("--rpc=", kRpc)});
  }
  return OutputOf(AddReportCommand, arguments);
}

TEST(SimulatedMarksTest, EveryFormatOfReportsHasThem) {
  const std::vector<std::string> formats =
      ChoicesOf(AddReportCommand, "--format");
  ASSERT_THAT(formats, SizeIs(testing::Ge(10)));
  for (const std::string& format : formats) {
    if (format == "csv") continue;  // see below
    EXPECT_TRUE(HasMark(Report(format, true))) << format;
    // The page's scripts know the word.
    if (format == "html") continue;
    EXPECT_FALSE(HasMark(Report(format, false))) << format;
  }
}

TEST(SimulatedMarksTest, EveryTableOfCsvHasTheColumn) {
  const std::vector<std::string> tables =
      ChoicesOf(AddReportCommand, "--table");
  ASSERT_THAT(tables, SizeIs(testing::Ge(14)));
  for (const std::string& table : tables) {
    // Experiments need control groups, which simulated hosts do not have.
    if (absl::StartsWith(table, "protection")) continue;
    for (const bool is_simulated : {false, true}) {
      const std::string csv = OutputOf(
          AddReportCommand, {"report",
                             table == "search" ? WrittenSearch(is_simulated)
                                               : WrittenTests(is_simulated),
                             "--format=csv", "--table=" + table});
      std::vector<std::string> lines =
          absl::StrSplit(csv, '\n', absl::SkipEmpty());
      ASSERT_THAT(lines, Not(IsEmpty())) << table;
      EXPECT_TRUE(absl::EndsWith(lines[0], ",simulated")) << table;
      for (size_t i = 1; i < lines.size(); ++i) {
        EXPECT_TRUE(absl::EndsWith(lines[i], is_simulated ? ",1" : ",0"))
            << table << ": " << lines[i];
      }
    }
  }
}

TEST(SimulatedMarksTest, ASearchOfASimulationSaysSoInEveryFormatThatHasIt) {
  for (const char* format : {"text", "json"}) {
    EXPECT_TRUE(HasMark(OutputOf(
        AddReportCommand,
        {"report", WrittenSearch(true), absl::StrCat("--format=", format)})))
        << format;
  }
}

TEST(SimulatedMarksTest, EveryFormatOfComparisonsSaysWhatIsSimulated) {
  const std::vector<std::string> formats =
      ChoicesOf(AddCompareCommand, "--format");
  ASSERT_THAT(formats, SizeIs(testing::Ge(5)));
  for (const std::string& format : formats) {
    const auto compared = [&](bool base, bool next) {
      return OutputOf(AddCompareCommand,
                      {"compare", WrittenTests(base), WrittenTests(next),
                       "--format=" + format});
    };
    EXPECT_THAT(compared(false, true), HasSubstr("ase is real, new is simul"))
        << format;
    EXPECT_THAT(compared(true, true), HasSubstr("ase and new are simulated"))
        << format;
    EXPECT_THAT(compared(false, false), Not(HasSubstr("new are simulated")))
        << format;
  }
}

}  // namespace
}  // namespace distbench::cli
