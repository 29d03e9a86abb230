// Experiments in the JSON document of results.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_REPORT_EXPERIMENTS_JSON_H_
#define DISTBENCH_PRODUCTS_PROTECTION_REPORT_EXPERIMENTS_JSON_H_

#include <nlohmann/json.hpp>

#include "distbench/report/json/json_limits.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::protection {

// Lists the experiments in the results, with at most limits.max_part_rows rows
// of seconds each.
nlohmann::ordered_json ExperimentsJson(const report::ReportInput& input,
                                       const report::JsonLimits& limits);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_REPORT_EXPERIMENTS_JSON_H_
