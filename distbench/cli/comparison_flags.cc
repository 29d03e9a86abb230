// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/comparison_flags.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison_formats/comparison_report.h"
#include "distbench/report/comparison_page/comparison_page.h"
#include "distbench/report/findings/findings.h"

namespace distbench::cli {
namespace {

struct Format {
  absl::string_view description;
  std::string (*render)(const report::ComparisonReport& report);
};

const std::map<std::string, Format>& Formats() {
  static const auto* const formats = new std::map<std::string, Format>{
      {"text", {"tables for a terminal", report::ComparisonText}},
      {"json", {"everything, for programs", report::ComparisonJson}},
      {"markdown", {"for a comment on GitHub", report::ComparisonMarkdown}},
      {"junit", {"test cases, for CI systems", report::ComparisonJunit}},
      {"html", {"charts on one page", report::RenderComparisonPage}},
  };
  return *formats;
}

void AddFormatFlags(CLI::App& command, ComparisonFlags& flags) {
  std::string help = "Output format:";
  std::vector<std::string> names;
  for (const auto& [name, format] : Formats()) {
    absl::StrAppend(&help, "\n  ", name, ": ", format.description);
    names.push_back(name);
  }
  AddChoiceFlag(command, "--format", flags.format, names, "FORMAT", help);
  AddOutputFlag(command, "-o", flags.output,
                "Write the comparison here; default: standard output");
}

// Also the files that CI systems read beside it.
absl::Status WriteFormats(const report::ComparisonReport& report,
                          const ComparisonFlags& flags) {
  absl::Status status =
      WriteReport(flags.output, Formats().at(flags.format).render(report));
  if (status.ok() && !flags.checks.junit.empty()) {
    status = WriteReport(flags.checks.junit, report::ComparisonJunit(report));
  }
  if (status.ok() && !flags.checks.markdown.empty()) {
    status =
        WriteReport(flags.checks.markdown, report::ComparisonMarkdown(report));
  }
  return status;
}

}  // namespace

void AddComparisonFlags(CLI::App& command, ComparisonFlags& flags) {
  AddFormatFlags(command, flags);
  AddRepeatedFlag(command, "--fail_if", flags.fail_if, "CONDITION",
                  "Exit 2 unless the evidence rules this out:\n"
                  "[RPC:]METRIC>PERCENT%, or <. May be given several times.\n"
                  "METRIC: a percentile such as p99.9, mean, rate, failures,\n"
                  "goodput, amplification, wasted, or a percentile of\n"
                  "another time such as gap_p99 or attempt_p99; without\n"
                  "an RPC, metric:NAME is a metric that the test reads");
  AddTextFlag(command, "--noise_floor", flags.noise_floor, "RESULT",
              "Runs of an unchanged test: show how much the same metric\n"
              "differs between groups of them; see distbench noise_floor");
  AddSwitch(command, "--allow_different_traffic", flags.allow_different_traffic,
            "Compare tests that do not send the same");
  AddCheckFlags(command, flags.checks);
}

absl::StatusOr<ComparisonRequest> ReadComparisonFlags(
    const ComparisonFlags& flags) {
  ComparisonRequest request;
  request.options.allow_different_traffic = flags.allow_different_traffic;
  for (const std::string& text : flags.fail_if) {
    absl::StatusOr<report::Gate> gate = report::ParseGate(text);
    if (!gate.ok()) return gate.status();
    report::AddMetricOf(*gate, request.options);
    request.gates.push_back(*std::move(gate));
  }
  if (flags.noise_floor.empty()) return request;
  absl::StatusOr<std::vector<report::SourcedResults>> noise =
      ReadResultFiles({flags.noise_floor});
  if (!noise.ok()) return noise.status();
  request.noise = *std::move(noise);
  request.options.noise_runs = report::ListRuns(request.noise);
  return request;
}

int FinishComparison(const report::ComparisonReport& report,
                     const ComparisonFlags& flags) {
  const absl::Status written = WriteFormats(report, flags);
  if (!written.ok()) return Fail(written, report::kExitUsage);
  const bool any_invalid = std::any_of(
      report.tests.begin(), report.tests.end(),
      [](const report::TestComparison& test) { return test.is_invalid; });
  if (any_invalid) return report::kExitRunFailed;
  return report::AllPass(report.checks, report.allow_undecided)
             ? report::kExitOk
             : report::kExitGateNotMet;
}

}  // namespace distbench::cli
