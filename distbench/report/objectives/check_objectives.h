// Checks which of its objectives a run met.

#ifndef DISTBENCH_REPORT_OBJECTIVES_CHECK_OBJECTIVES_H_
#define DISTBENCH_REPORT_OBJECTIVES_CHECK_OBJECTIVES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/verdicts/check.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Whether latencies may well grow during the test, because it varies its load
// or disturbs its servers. That they do is then no sign of a run that was too
// short.
bool GrowsByPlan(const TestResult& result);

// The verdict on an objective, and the figures behind it.
struct JudgedObjective {
  Check check;

  // Absent if the text is no objective.
  std::optional<config::Objective> objective = {};

  // The measurement and its 95 % confidence interval, in the unit of
  // Objective::limit. Absent if there is none, infinite if RPCs failed there.
  std::optional<double> measured = {};
  std::optional<double> lower = {};
  std::optional<double> upper = {};

  // See Estimate::is_of_independent.
  bool of_independent = false;

  // Whether the latencies were still growing, and not by plan. What a longer
  // run would measure is then known to be no less, but has no upper bound.
  bool has_grown = false;
};

// Judges the objectives of the test's config, then `more`, each once. An
// objective is met if the 95 % confidence interval of its metric lies within
// the limit, missed if it lies beyond, and undecided otherwise, as where
// latencies were still growing. It is missed if the test failed or did not
// measure the metric.
std::vector<JudgedObjective> JudgeObjectives(
    const TestResult& result, absl::Span<const std::string> more = {});

// Returns only the verdicts of JudgeObjectives().
std::vector<Check> CheckObjectives(const TestResult& result,
                                   absl::Span<const std::string> more = {});

// The verdict on the run itself, which files for CI systems have beside those
// on objectives: whether it ran to its end and, unless invalid runs are
// allowed, its numbers are true.
Check CheckRun(const TestResult& result, bool allow_invalid);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_OBJECTIVES_CHECK_OBJECTIVES_H_
