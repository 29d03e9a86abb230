// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Compares the loads that two systems carry, as products found them.

#ifndef DISTBENCH_REPORT_COMPARISON_CAPACITY_H_
#define DISTBENCH_REPORT_COMPARISON_CAPACITY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/run_interval.h"

namespace distbench::report {

// Whether a product chose the load of the run, as searches do, so that it is
// not compared with others one by one.
bool HasChosenLoad(const TestRun& run);

// The runs without such loads.
std::vector<TestRun> ListPlainRuns(absl::Span<const SourcedResults> results);

// A load or a latency on both sides: geometric means over the searches, and
// their ratio, with an interval at kCompareConfidence if both sides have at
// least two searches.
struct CapacityRatio {
  std::string name;  // "load", "p50" or "p99"
  double base = 0;   // in the load's unit, or in nanoseconds
  double next = 0;
  stats::Difference ratio = {};

  // Of each search.
  std::vector<double> base_values = {};
  std::vector<double> next_values = {};
};

// Whether it is the load that was found, of which more is better.
bool IsLoad(const CapacityRatio& ratio);

// The searches of one side; those that converged have a load to compare.
struct SearchCounts {
  int all = 0;
  int converged = 0;
};

struct CapacityComparison {
  // What was searched for, such as "bound: highest iterations per second with
  // cpu<=60%".
  std::string question;
  SearchCounts base_searches = {};
  SearchCounts next_searches = {};

  // The largest tolerance of the searches: a load is known no better.
  double tolerance = 0;

  // Why it was not compared; empty if it was.
  std::string not_comparable = {};

  // The load, and the percentiles at that load that both sides have.
  std::vector<CapacityRatio> ratios = {};
};

// Better, worse, no difference or not shown. Searches that do not converge are
// rarely those of good systems, so what the others found flatters the side of
// which a smaller share converged: no verdict is given in its favour.
ComparisonVerdict JudgeRatio(const CapacityRatio& ratio,
                             const CapacityComparison& comparison,
                             double confidence = kCompareConfidence);

struct CapacityComparisons {
  // Differences between the sides other than the answers.
  std::vector<std::string> notes;
  std::vector<CapacityComparison> questions;
};

// Finds the loads of both sides; a plug-in (distbench/base/plugins.h).
struct CapacitySource {
  // Whether the runs of these results have the loads that were tried.
  bool (*chose_loads)(const TestSequenceResults& results);

  // As CompareCapacities(), for what this source finds.
  CapacityComparisons (*compare)(absl::Span<const SourcedResults> base,
                                 absl::Span<const SourcedResults> next,
                                 bool allow_different_traffic);

  // What was found in such results, as a line for users; empty if nothing was.
  std::string (*answer)(const TestSequenceResults& results);
};

// What all sources say that they found; empty if nothing was.
std::string FoundLoads(const TestSequenceResults& results);

// Compares what all sources find, question by question. Empty if neither side
// has anything. What RPCs carry and do must be the same unless
// allow_different_traffic; then it is noted.
CapacityComparisons CompareCapacities(absl::Span<const SourcedResults> base,
                                      absl::Span<const SourcedResults> next,
                                      bool allow_different_traffic);

// Formats values and change, such as "1005 -> 1695, x1.687 (x1.661 to x1.712)".
std::string DescribeRatio(const CapacityRatio& ratio);

// Formats the comparisons for users.
std::string DescribeCapacities(const CapacityComparisons& comparisons);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_CAPACITY_H_
