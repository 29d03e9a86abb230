// The judgement of a measurement against a limit: what the judges of single
// metrics share.

#ifndef DISTBENCH_REPORT_OBJECTIVES_JUDGEMENT_H_
#define DISTBENCH_REPORT_OBJECTIVES_JUDGEMENT_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/objectives/judge_objective.h"
#include "distbench/stats/ratio_error.h"

namespace distbench::report {

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

struct Judgement {
  Excess excess;

  // As in ObjectiveOutcome.
  std::optional<double> lower;
  std::optional<double> upper;
};

// Positive if the objective was missed.
Excess ExcessOf(const config::Objective& objective, double measured,
                double error);

// `error` is the standard error of the value's logarithm.
Judgement JudgeValue(const config::Objective& objective, double value,
                     double error);

// For metrics that are meaningless because too many RPCs failed.
Judgement CertainMiss(const config::Objective& objective);

// Judges which share `amount` is of `count`, by Wilson's score interval (E. B.
// Wilson, Probable Inference, the Law of Succession, and Statistical Inference,
// JASA 22 (1927) 209-212), which is also accurate for few. Of blocks of
// consecutive requests, if there are any, their spread tells by how much those
// that come together count for fewer.
Judgement JudgeShare(const config::Objective& objective, double amount,
                     double count, absl::Span<const stats::BlockAmount> blocks);

// Returns the standard error of all amounts divided by all counts, relative to
// it, from at least two blocks. It is larger for few blocks, so that
// kErrorsPerInterval of it reach the bounds of Student's t distribution.
double RelativeErrorOf(absl::Span<const stats::BlockAmount> blocks,
                       double ratio);

ObjectiveOutcome OutcomeOf(const Judgement& judgement, std::string measured);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_OBJECTIVES_JUDGEMENT_H_
