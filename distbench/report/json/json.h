// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Renders runs as one JSON document, which the HTML report shows as well.

#ifndef DISTBENCH_REPORT_JSON_JSON_H_
#define DISTBENCH_REPORT_JSON_JSON_H_

#include <string>

#include "distbench/report/json/json_limits.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::report {

// The report that derived/derive.h derives, with the parts of products. Returns
// valid UTF-8 that ends with a line feed.
std::string RenderJson(const ReportInput& input, const JsonLimits& limits = {});

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_JSON_JSON_H_
