// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/message_json.h"
#include "distbench/base/plugins.h"
#include "distbench/base/printable_line.h"
#include "distbench/products/stacks/page_files.h"
#include "distbench/products/stacks/stacks.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison_formats/comparison_report.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/parts/report_format.h"
#include "distbench/report/terminal/layout.h"
#include "distbench/report/verdicts/check.h"

namespace distbench::stacks {
namespace {

const base::Plugin<base::Product> kProduct(
    "stacks",
    new base::Product{
        "Compares stacks of software over the results of many tests"});

base::Json ValueOf(const report::ReportInput& input,
                   const report::JsonLimits&) {
  return base::MessageJson(CompareStacks(input.runs).reported);
}

template <bool is_markdown>
absl::Status Write(const report::ReportInput& input,
                   const report::ReportFlagValues&, report::ByteSink sink) {
  const StackComparison comparison = CompareStacks(input.runs);
  const auto& omissions = comparison.reported.omissions();
  if (comparison.reports.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no stacks to compare: no two valid runs have the same traffic over "
        "different protocol drivers; make such tests with test_builder "
        "'PATTERN:{grpc,tcp}'",
        omissions.empty() ? "" : "\n", absl::StrJoin(omissions, "\n")));
  }
  for (const auto& [stacks, report] : comparison.reports) {
    if (!is_markdown) {
      sink(absl::StrCat(base::PrintableLine(stacks.second),
                        " (new) compared with ",
                        base::PrintableLine(stacks.first), " (base)\n",
                        report::DescribeComparisons(report.tests), "\n"));
      continue;
    }
    // The verdict of what follows leaves out the CPU times, which are notes.
    for (const report::TestComparison& test : report.tests) {
      for (const std::string& note : test.notes) {
        sink(absl::StrCat("- ", report::MarkdownText(note), "\n"));
      }
    }
    sink(absl::StrCat("\n", report::ComparisonMarkdown(report), "\n"));
  }
  for (const std::string& why : omissions) {
    sink(absl::StrCat(
        "- Left out: ",
        is_markdown ? report::MarkdownText(why) : base::PrintableLine(why),
        "\n"));
  }
  return absl::OkStatus();
}

const base::Plugin<report::DocumentKey> kKey("stacks",
                                             new report::DocumentKey{
                                                 {"tests", 4}, ValueOf});

const base::Plugin<report::PagePart> kPage(
    "stacks", new report::PagePart{{"sweep", 1}, kStacksHtml, kStacksJs});

const base::Plugin<report::ReportFormat> kText(
    "stacks",
    new report::ReportFormat{"protocol drivers under the same traffic",
                             Write<false>});

const base::Plugin<report::ReportFormat> kMarkdown(
    "stacks_markdown",
    new report::ReportFormat{"the same for comments and wikis", Write<true>});

}  // namespace
}  // namespace distbench::stacks
