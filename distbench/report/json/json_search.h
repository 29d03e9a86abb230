// Renders searches as JSON. Private to json.h.

#ifndef DISTBENCH_REPORT_JSON_JSON_SEARCH_H_
#define DISTBENCH_REPORT_JSON_JSON_SEARCH_H_

#include <nlohmann/json.hpp>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench {

nlohmann::ordered_json SearchesJson(absl::Span<const SourcedSearch> searches);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_JSON_JSON_SEARCH_H_
