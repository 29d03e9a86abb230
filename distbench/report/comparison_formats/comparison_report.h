// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What is said about base and new, in whichever format.

#ifndef DISTBENCH_REPORT_COMPARISON_FORMATS_COMPARISON_REPORT_H_
#define DISTBENCH_REPORT_COMPARISON_FORMATS_COMPARISON_REPORT_H_

#include <string>
#include <vector>

#include "distbench/report/comparison/capacity.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/verdicts/check.h"

namespace distbench::report {

// One of the two groups of runs.
struct ComparisonSide {
  std::string source;  // what the group is called, such as a file

  // All runs that were compared, of all tests.
  std::vector<TestRun> runs;
};

struct ComparisonReport {
  ComparisonSide base;
  ComparisonSide next;
  std::vector<TestComparison> tests;
  CapacityComparisons capacities = {};

  // The conditions that new must meet, and whether undecided ones count as met.
  std::vector<Check> checks = {};
  bool allow_undecided = false;
};

// The verdict on all of it.
struct Headline {
  // The worst that applies of "invalid" (a run failed or its numbers are
  // false), "failed", "undecided" and "passed" (of the conditions); without
  // conditions "worse", "better", "differs" (a distribution, or a metric of
  // which neither direction is better), "no difference" (none was shown), "not
  // shown" (too few runs) and "not comparable". VerdictWords() is for people.
  std::string verdict;

  // How many verdicts of each kind there are, as sentences.
  std::string text;

  // What to bear in mind, in sentences.
  std::vector<std::string> cautions;
};

Headline HeadlineOf(const ComparisonReport& report);

// A metric with its place.
struct PlacedMetric {
  const TestComparison* test;
  const RpcComparison* rpc;  // null for metrics of the test
  const MetricComparison* metric;
};

// All metrics: those that became worse, better, different, and others; the
// largest changes first. Points into the report.
std::vector<PlacedMetric> MetricsWorstFirst(const ComparisonReport& report);

// All checks: those that failed, are undecided, and passed.
std::vector<Check> ChecksWorstFirst(const ComparisonReport& report);

// The formats of a comparison. All say the same; comparison_page/ has another.

// For a terminal.
std::string ComparisonText(const ComparisonReport& report);

// Version of the schema that docs/reports.md describes. It changes with every
// change other than added fields.
inline constexpr int kComparisonSchemaVersion = 1;

// Returns valid UTF-8 that ends with a line feed.
std::string ComparisonJson(const ComparisonReport& report);

// For a comment on GitHub: short enough, and with the worst first.
std::string ComparisonMarkdown(const ComparisonReport& report);

// JUnit XML with a test case for each condition or, without conditions, for
// each metric. There are failures and errors where the exit status of `compare`
// is not 0: conditions that are not met, and runs that are not valid.
std::string ComparisonJunit(const ComparisonReport& report);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_FORMATS_COMPARISON_REPORT_H_
