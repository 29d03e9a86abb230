// How values are written in JSON documents, for parts of products too.

#ifndef DISTBENCH_REPORT_JSON_JSON_VALUES_H_
#define DISTBENCH_REPORT_JSON_JSON_VALUES_H_

#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/base/json.h"
#include "distbench/stats/run_interval.h"
#include "google/protobuf/message.h"

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

// Returns an array of what `to_json` makes of each item.
template <typename Items, typename ToJson>
base::Json ListJson(const Items& items, const ToJson& to_json) {
  base::Json json = base::Json::array();
  for (const auto& item : items) json.push_back(to_json(item));
  return json;
}

// What a field that a message lacks is: null, or its default.
enum class AbsentField { kNull, kDefault };

// Returns the fields with these names, in this order, under their names.
// Repeated fields are arrays, and maps are objects that are sorted by their
// keys; messages in either have all of their fields, with defaults.
base::Json FieldsJson(const google::protobuf::Message& message,
                      std::initializer_list<absl::string_view> names,
                      AbsentField absent = AbsentField::kNull);

// Returns all fields, in the order of their declaration.
base::Json MessageJson(const google::protobuf::Message& message,
                       AbsentField absent = AbsentField::kNull);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_JSON_JSON_VALUES_H_
