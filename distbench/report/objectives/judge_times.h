// Judges percentiles of times that are not those of requests: of messages, of
// attempts.

#ifndef DISTBENCH_REPORT_OBJECTIVES_JUDGE_TIMES_H_
#define DISTBENCH_REPORT_OBJECTIVES_JUDGE_TIMES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/objectives/judge_objective.h"
#include "distbench/stats/outcomes.h"

namespace distbench::report {

struct JudgedTimes {
  std::string name;          // such as "gap_p99"
  absl::string_view values;  // what has such times: "messages"
  double percent = 0;
  const stats::Outcomes& outcomes;  // at least one

  // How many of them are independent of each other, at least 1: the interval is
  // that of as many.
  int64_t independent_count = 1;
};

// Judges the percentile. Because it has no series over time, its relative error
// is at least a quarter.
ObjectiveOutcome JudgeTimes(const config::Objective& objective,
                            const JudgedTimes& times);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_OBJECTIVES_JUDGE_TIMES_H_
