// Judgements of objectives whose metrics only products measure.

#ifndef DISTBENCH_REPORT_OBJECTIVES_OBJECTIVE_JUDGE_H_
#define DISTBENCH_REPORT_OBJECTIVES_OBJECTIVE_JUDGE_H_

#include "absl/status/statusor.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/objectives/judge_objective.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Registered as a base::Plugin<ObjectiveJudge>, by the name of its product.
struct ObjectiveJudge {
  // Whether the metric is the product's.
  bool (*judges)(const config::Objective& objective);

  // Judges such an objective; see Judge().
  absl::StatusOr<ObjectiveOutcome> (*judge)(const config::Objective& objective,
                                            const TestResult& result);
};

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_OBJECTIVES_OBJECTIVE_JUDGE_H_
