#ifndef DISTBENCH_REPORT_TEXT_TIME_PARTS_TEXT_H_
#define DISTBENCH_REPORT_TEXT_TIME_PARTS_TEXT_H_

#include <string>
#include <vector>

#include "distbench/report/measurements/test_totals.h"

namespace distbench::report {

// Returns the section "Time parts" of the summary: a line for each RPC and part
// of its time, in the order in which an RPC passes through them. Empty if the
// test did not measure time parts.
std::vector<std::string> TimePartLines(const TestTotals& totals);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TEXT_TIME_PARTS_TEXT_H_
