// How values are written in JSON documents, for parts of products too.

#ifndef DISTBENCH_REPORT_JSON_JSON_VALUES_H_
#define DISTBENCH_REPORT_JSON_JSON_VALUES_H_

#include <cmath>
#include <optional>
#include <string>

#include "distbench/base/json.h"
#include "distbench/stats/run_interval.h"

namespace distbench::report {

// Infinite figures stand for RPCs that failed, as in percentiles.
inline base::Json FigureJson(const std::optional<double>& figure) {
  if (figure && std::isinf(*figure)) return "failed";
  return base::OrNull(figure);
}

// Sets NAME to the estimate, and PREFIXlower and PREFIXupper to its interval;
// null where absent.
inline void SetDifference(const std::optional<stats::Difference>& difference,
                          const std::string& name, const std::string& prefix,
                          base::Json& json) {
  std::optional<double> estimate;
  std::optional<double> lower;
  std::optional<double> upper;
  if (difference) {
    estimate = difference->estimate;
    if (const auto& interval = difference->interval) {
      lower = interval->lower;
      upper = interval->upper;
    }
  }
  json[name] = base::OrNull(estimate);
  json[prefix + "lower"] = base::OrNull(lower);
  json[prefix + "upper"] = base::OrNull(upper);
}

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_JSON_JSON_VALUES_H_
