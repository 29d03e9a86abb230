// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison_page/comparison_page.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/comparison_formats/comparison_report.h"
#include "distbench/report/comparison_page/comparison_page_files.h"
#include "distbench/report/html/html.h"
#include "distbench/report/html/page_files.h"
#include "distbench/report/json/json.h"

namespace distbench::report {
namespace {

// Of all runs together, but enough of each to show its course.
constexpr int64_t kMaxIntervals = 6000;
constexpr int64_t kMinIntervalsOfRun = 60;

std::string RunsJson(const ComparisonReport& report) {
  std::vector<TestRun> runs = report.base.runs;
  runs.insert(runs.end(), report.next.runs.begin(), report.next.runs.end());
  const int64_t run_count = std::max<int64_t>(1, runs.size());
  return RenderJson({.runs = std::move(runs)},
                    {.max_rows = {{"peers", 0},
                                  {"activity_series", 0},
                                  {"resources", 0},
                                  {"cpus", 0},
                                  {"groups", 0},
                                  {"connections", 0}},
                     .max_instance_rows = 0,
                     .max_part_rows = 0,
                     .max_intervals = std::max(kMinIntervalsOfRun,
                                               kMaxIntervals / run_count)});
}

}  // namespace

std::string RenderComparisonPage(const ComparisonReport& report) {
  const std::string runs = RunsJson(report);
  const std::string comparison = ComparisonJson(report);
  const std::string style = absl::StrCat(kStyleCss, kComparisonCss);
  // The report's own scripts come first.
  const std::string script = absl::StrCat(
      kFormatsJs, kModelJs, kDomJs, kChartsJs, kIntervalsJs, kSidesJs,
      kChangesJs, kCurvesJs, kDiffJs, kDifferencesJs, kComparisonJs);
  return RenderPage(
      {.title = "distbench comparison",
       .style = style,
       .body = kComparisonHtml,
       .data = {{"report-data", runs}, {"comparison-data", comparison}},
       .script = script});
}

}  // namespace distbench::report
