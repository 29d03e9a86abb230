// How values are written in JSON documents, for parts of products too.

#ifndef DISTBENCH_REPORT_JSON_JSON_VALUES_H_
#define DISTBENCH_REPORT_JSON_JSON_VALUES_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "distbench/stats/welch_interval.h"

namespace distbench::report {

inline nlohmann::ordered_json TextOrNull(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr)
                      : nlohmann::ordered_json(text);
}

template <typename Value>
nlohmann::ordered_json ValueOrNull(const std::optional<Value>& value) {
  return value ? nlohmann::ordered_json(*value)
               : nlohmann::ordered_json(nullptr);
}

// Sets NAME to the estimate, and PREFIXlower and PREFIXupper to its interval;
// null where absent.
inline void SetDifference(const std::optional<stats::Difference>& difference,
                          const std::string& name, const std::string& prefix,
                          nlohmann::ordered_json& json) {
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
  json[name] = ValueOrNull(estimate);
  json[prefix + "lower"] = ValueOrNull(lower);
  json[prefix + "upper"] = ValueOrNull(upper);
}

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_JSON_JSON_VALUES_H_
