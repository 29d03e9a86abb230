#ifndef DISTBENCH_REPORT_TEXT_CONTROLS_TEXT_H_
#define DISTBENCH_REPORT_TEXT_CONTROLS_TEXT_H_

#include <string>
#include <vector>

#include "proto/results.pb.h"

namespace distbench::report {

// Returns the section "Controls" of the summary: for each node, how many
// settings of control groups held; then each of those that did not hold, or
// that was not left as it had been. Empty without controls.
std::vector<std::string> ControlLines(const TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TEXT_CONTROLS_TEXT_H_
