// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What `distbench report` makes of the formats, tables and flags of products.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/cli/command_line.h"
#include "distbench/cli/commands.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/parts/report_format.h"
#include "distbench/report/parts/text_part.h"
#include "distbench/results/result_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::Status WriteCounts(const report::ReportInput& input,
                         const report::ReportFlagValues& flags,
                         report::ByteSink sink) {
  sink(absl::StrCat(input.results.size(), " files, ", input.runs.size(),
                    " runs, cups ", report::FlagValue(flags, "--cups"), "\n"));
  return absl::OkStatus();
}

absl::Status CheckCups(absl::string_view format, absl::string_view) {
  return format == "tea" ? absl::OkStatus()
                         : absl::InvalidArgumentError("--cups is for tea");
}

std::string FirstText(const report::ReportInput&) { return "tea first\n"; }
std::string LastText(const report::ReportInput&) { return "tea last\n"; }

const base::Plugin<report::ReportFormat> kFormat("tea",
                                                 new report::ReportFormat{
                                                     "tea, hot", WriteCounts});
const base::Plugin<report::CsvTable> kTable(
    "tea", new report::CsvTable{{"rpcs"}, "a row per cup", WriteCounts});
const base::Plugin<report::ReportFlag> kFlag(
    "--cups", new report::ReportFlag{{}, "N", "How many cups", CheckCups});
const base::Plugin<report::TextPart> kFirst("first", new report::TextPart{
                                                         {report::kTextStart},
                                                         FirstText});
const base::Plugin<report::TextPart> kLast("last",
                                           new report::TextPart{
                                               {report::kTextTests}, LastText});

std::string Output() { return absl::StrCat(testing::TempDir(), "/output"); }

// Reports a file with one run.
int Report(std::vector<std::string> arguments) {
  const std::string path = absl::StrCat(testing::TempDir(), "/result.pb");
  TestSequenceResults results;
  results.add_test_results();
  EXPECT_TRUE(
      results::WriteResults(results, path, results::ResultEncoding::kBinary)
          .ok());
  arguments.insert(arguments.begin(), {"report", path, "-o", Output()});
  return RunCommandLine({{HelpSection::kOutcomes, AddReportCommand}}, arguments,
                        flags::NoEnvironment());
}

std::string Reported(const std::vector<std::string>& arguments) {
  EXPECT_EQ(Report(arguments), report::kExitOk);
  const auto output = base::ReadFile(Output());
  EXPECT_TRUE(output.ok()) << output.status();
  return output.ok() ? *output : "";
}

TEST(ReportPartsTest, AFormatGetsTheResultsAndTheFlags) {
  EXPECT_EQ(Reported({"--format=tea"}), "1 files, 1 runs, cups 0\n");
  EXPECT_EQ(Reported({"--format=tea", "--cups=3"}),
            "1 files, 1 runs, cups 3\n");
}

TEST(ReportPartsTest, ATableIsWritten) {
  EXPECT_EQ(Reported({"--format=csv", "--table=tea"}),
            "1 files, 1 runs, cups 0\n");
}

TEST(ReportPartsTest, AFlagThatDoesNotGoWithTheFormatIsRefused) {
  EXPECT_EQ(Report({"--cups=3"}), report::kExitUsage);
}

TEST(ReportPartsTest, TextIsPrintedAroundTheSummaries) {
  const std::string text = Reported({});
  EXPECT_THAT(text, StartsWith("tea first\nTest: "));
  EXPECT_THAT(text, EndsWith("tea last\n"));
}

TEST(ReportPartsTest, HelpNamesThem) {
  CLI::App app;
  CommandBody body;
  AddReportCommand(app, body);
  const CLI::App& command =
      *app.get_subcommands([](CLI::App*) { return true; }).front();
  EXPECT_THAT(
      command.get_option("--format")->get_description(),
      HasSubstr("\n  tea: tea, hot\n  terminal: what matters most, for people\n"
                "  text: summaries, which programs can parse\n"));
  EXPECT_THAT(command.get_option("--table")->get_description(),
              HasSubstr("\n  tea: a row per cup\n  percentiles: "));
  EXPECT_EQ(command.get_option("--cups")->get_description(), "How many cups");
}

}  // namespace
}  // namespace distbench::cli
