// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Judges which of its objectives a run met, and by how much.

#ifndef DISTBENCH_REPORT_OBJECTIVES_OBJECTIVES_H_
#define DISTBENCH_REPORT_OBJECTIVES_OBJECTIVES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/measurements/measure.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/verdicts/check.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Returns the position of the objective's RPC. NOT_FOUND if there is no such
// RPC, or if the objective names none and the test has several.
absl::StatusOr<int> FindRpc(const config::Objective& objective,
                            const TestResult& result);

// The distance of an estimate from the limit, with its standard error: the
// logarithm of value / limit, or of the inverse for a lower limit, so that a
// positive value means missed. Infinite if too many RPCs failed for the metric
// to have a value.
struct Excess {
  double estimate = 0;
  double error = 0;
};

struct ObjectiveOutcome {
  // What was measured, whether or not it decides.
  Estimate estimate;
  Excess excess;

  // The same as `excess` for the service time, if `excess` is for the response
  // time. If only the response time missed, the generator was late.
  Excess service_excess;
  std::string measured;  // for users, for example "p95 12.3 ms"

  // Whether the objective is missed whatever its limit is, because the whole
  // interval falls among failures, more RPCs fail than the percentile leaves,
  // or more failed than is allowed. `excess` is infinite, and `measured` says
  // why.
  bool is_certain_miss = false;

  // Whether the interval may reach into failures, which miss lower limits as
  // well as upper ones: the objective is then not known to be met.
  bool may_have_failed = false;
};

// The share of the objective's RPCs that may fail before objectives on its mean
// or rate are missed: the lowest limit of the objectives on its failures,
// otherwise kAllowedFailures. An RPC is the same whether or not both objectives
// name it.
double AllowedFailures(const config::Objective& objective,
                       absl::Span<const config::Objective> objectives,
                       const TestResult& result);

// Judges the objective. NOT_FOUND if the result has no measurement for it;
// objectives on isolation need the run of an experiment's cell. Means and rates
// miss if more RPCs failed than is allowed.
absl::StatusOr<ObjectiveOutcome> Judge(const config::Objective& objective,
                                       const TestResult& result,
                                       const TestTotals& totals,
                                       double allowed_failures);

// The outcome of an estimate.
ObjectiveOutcome ObjectiveOutcomeOf(const config::Objective& objective,
                                    const Estimate& estimate,
                                    std::string measured);

// The outcome of metrics that are meaningless because too many RPCs failed,
// which `measured` says.
ObjectiveOutcome CertainMiss(const Estimate& estimate, std::string measured);

// Judgements of objectives whose metrics only products measure.

// Registered as a base::Plugin<ObjectiveJudge>, by the name of its product.
struct ObjectiveJudge {
  // Whether the metric is the product's.
  bool (*judges)(const config::Objective& objective);

  // Judges such an objective; see Judge().
  absl::StatusOr<ObjectiveOutcome> (*judge)(const config::Objective& objective,
                                            const TestResult& result,
                                            const TestTotals& totals);
};

// ---- All objectives of a run ------------------------------------------------

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

#endif  // DISTBENCH_REPORT_OBJECTIVES_OBJECTIVES_H_
