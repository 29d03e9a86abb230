#ifndef DISTBENCH_REPORT_JSON_JSON_OBJECTIVES_H_
#define DISTBENCH_REPORT_JSON_JSON_OBJECTIVES_H_

#include <nlohmann/json.hpp>

#include "proto/results.pb.h"

namespace distbench::report {

// Lists the verdicts on the objectives of the run's test, for RenderJson().
nlohmann::ordered_json ObjectivesJson(const TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_JSON_JSON_OBJECTIVES_H_
