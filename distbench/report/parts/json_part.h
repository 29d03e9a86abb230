// Keys that products add to the JSON document, from which the HTML page is
// drawn as well.

#ifndef DISTBENCH_REPORT_PARTS_JSON_PART_H_
#define DISTBENCH_REPORT_PARTS_JSON_PART_H_

#include <nlohmann/json.hpp>

#include "distbench/report/json/json_limits.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/placement.h"
#include "proto/results.pb.h"

namespace distbench::report {

// A key of each test; its name is that of the plug-in.
struct TestKey {
  // Among the keys of a test.
  Placement place;

  // The key is always there, null if the test has no such thing.
  nlohmann::ordered_json (*value_of)(const TestResult& result,
                                     const JsonLimits& limits);
};

// A key of the document; its name is that of the plug-in.
struct DocumentKey {
  // Among the keys of the document.
  Placement place;

  // The key is always there, null or an empty list if there is no such thing.
  nlohmann::ordered_json (*value_of)(const ReportInput& input,
                                     const JsonLimits& limits);
};

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_PARTS_JSON_PART_H_
