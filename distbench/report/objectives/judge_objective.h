// Judges whether a run met an objective, and by how much.

#ifndef DISTBENCH_REPORT_OBJECTIVES_JUDGE_OBJECTIVE_H_
#define DISTBENCH_REPORT_OBJECTIVES_JUDGE_OBJECTIVE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/stats/outcomes.h"
#include "distbench/stats/quantile_interval.h"
#include "distbench/stats/ratio_error.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Returns the position of the objective's RPC. NOT_FOUND if there is no such
// RPC, or if the objective names none and the test has several.
absl::StatusOr<int> FindRpc(const config::Objective& objective,
                            const TestResult& result);

// The distance of a measurement from the limit, with its standard error: the
// logarithm of measured / limit, or of the inverse for a lower limit, so that a
// positive value means missed. Infinite if too many RPCs failed for the metric
// to have a value.
struct Excess {
  double estimate = 0;
  double error = 0;
};

struct ObjectiveOutcome {
  Excess excess;

  // The 95 % confidence interval of the measurement, in the unit of
  // Objective::limit. Absent if there is no bound on that side, infinite if
  // RPCs failed there.
  std::optional<double> lower;
  std::optional<double> upper;

  // Whether the interval takes what was measured for independent of each other,
  // because too few seconds tell by how much it is not. It is then too narrow
  // wherever slow requests, or failures, come together.
  bool is_of_independent = false;

  // The measurement itself; infinite, or 0 for a lower limit, if too many RPCs
  // failed for the metric to have a value.
  double value = 0;

  // The same as `excess` for the service time, if `excess` is for the response
  // time. If only the response time missed, the generator was late.
  Excess service_excess;
  std::string measured;  // for users, for example "p95 12.3 ms"

  // Whether the latencies of the RPC were still growing: a longer run would
  // have measured more.
  bool has_grown = false;
};

// The share of the objective's RPCs that may fail before objectives on its mean
// or rate are missed: the limit of an objective on its failures, otherwise
// kAllowedFailures.
double AllowedFailures(const config::Objective& objective,
                       absl::Span<const config::Objective> objectives);

// Judges the objective. NOT_FOUND if the result has no measurement for it;
// objectives on isolation need the run of an experiment's cell.
//
// RPCs that failed, expired or were never sent rank above all that succeeded: a
// percentile that falls among them misses every limit.
//
// Latencies and failures of neighbouring RPCs depend on each other, so
// intervals and errors come from the spread between blocks of at least a
// second. A run that is too short for blocks has an interval that takes RPCs
// for independent, and says so; the error of its latencies is at least
// kUnknownError.
absl::StatusOr<ObjectiveOutcome> Judge(const config::Objective& objective,
                                       const TestResult& result,
                                       const TestTotals& totals,
                                       double allowed_failures);

// CPU time of the busiest host after the warm-up, as a share of all its CPUs;
// absent if unknown.
std::optional<double> HostCpuShare(const TestResult& result);

// The judgement of a measurement against a limit: what the judges of single
// metrics share.

// Half the width of a 95 % confidence interval of a normal distribution, in
// standard errors.
inline constexpr double kErrorsPerInterval = 1.96;

// The assumed relative error if an interval is open-ended or if nothing is
// known about the dependence of RPCs on each other: a quarter of the value.
inline constexpr double kUnknownError = 0.25;

// Runs that are too short for MakeBlocks() have blocks of one interval each.
// Student's t distribution allows for their number, but not for fewer than
// this.
inline constexpr size_t kFewestShortBlocks = 4;

// Marks an outcome as is_of_independent, and raises the error of what has a
// value to kUnknownError at least.
ObjectiveOutcome OfIndependent(ObjectiveOutcome outcome);

// `error` is the standard error of the value's logarithm. `measured`, here and
// below: as in ObjectiveOutcome.
ObjectiveOutcome JudgeValue(const config::Objective& objective, double value,
                            double error, std::string measured);

// For metrics that are meaningless because too many RPCs failed.
ObjectiveOutcome CertainMiss(const config::Objective& objective,
                             std::string measured);

// A percentile of times: of RPCs, of their messages or of their attempts.
struct JudgedPercentile {
  std::string name;          // such as "gap_p99"
  absl::string_view values;  // what has such times: "messages"
  const stats::Outcomes& outcomes;
  int64_t value_ns = 0;  // or Outcomes::kFailed
  stats::QuantileInterval interval;
};

ObjectiveOutcome JudgePercentile(const config::Objective& objective,
                                 const JudgedPercentile& percentile);

// Judges which share `amount` is of `count`, by the exact interval, which holds
// for few, too. Of blocks of consecutive requests, if there are any, their
// spread tells by how much those that come together count for fewer, and their
// number how well that is known (stats/share_interval.h).
ObjectiveOutcome JudgeShare(const config::Objective& objective, double amount,
                            double count,
                            absl::Span<const stats::BlockAmount> blocks,
                            std::string measured);

// Returns the standard error of all amounts divided by all counts, relative to
// it, from at least two blocks. It is larger for few blocks, so that
// kErrorsPerInterval of it reach the bounds of Student's t distribution.
double RelativeErrorOf(absl::Span<const stats::BlockAmount> blocks,
                       double ratio);

// Detects runs that were too short: their latencies were still growing.

// Fewer blocks do not show whether latencies grew.
inline constexpr size_t kFewestForGrowth = 4;

// Whether the mean latencies of consecutive blocks grew by more than chance
// explains: those of the second half are above those of the first, or a line
// through all of them rises, each with the certainty of three standard errors,
// for which Student's t distribution takes more with few blocks. False if there
// are too few blocks with latencies.
//
// A queue that starts empty approaches its steady latency from below, and that
// of an overloaded system has none. Such a run measures less than a longer one.
bool HasGrown(absl::Span<const stats::Outcomes> blocks);

// Judgements of objectives whose metrics only products measure.

// Registered as a base::Plugin<ObjectiveJudge>, by the name of its product.
struct ObjectiveJudge {
  // Whether the metric is the product's.
  bool (*judges)(const config::Objective& objective);

  // Judges such an objective; see Judge().
  absl::StatusOr<ObjectiveOutcome> (*judge)(const config::Objective& objective,
                                            const TestResult& result);
};

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_OBJECTIVES_JUDGE_OBJECTIVE_H_
