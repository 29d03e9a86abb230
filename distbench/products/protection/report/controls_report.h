// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What reports say about a test's controls: which settings of control groups
// held, and how they were left. Strict controls that are impossible fail a test
// before its traffic; here they may have ceased to hold.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_REPORT_CONTROLS_REPORT_H_
#define DISTBENCH_PRODUCTS_PROTECTION_REPORT_CONTROLS_REPORT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/json.h"
#include "distbench/report/json/json_limits.h"
#include "distbench/report/parts/finding_rule.h"
#include "proto/results.pb.h"

namespace distbench::protection {

// Returns the section "Controls" of the summary: for each node, how many
// settings of control groups held; then each of those that did not hold, or
// that was not left as it had been. Empty without controls.
std::vector<std::string> ControlLines(const TestResult& result);

// Adds a finding for each node on which settings did not hold.
void JudgeControls(const TestResult& result, report::FindingList& findings);

// Lists the settings of control groups, how they were read back, and how they
// were left.
base::Json ControlsJson(const TestResult& result,
                        const report::JsonLimits& limits);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_REPORT_CONTROLS_REPORT_H_
