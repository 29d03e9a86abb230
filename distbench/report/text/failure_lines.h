// Why RPCs failed and instances stopped.

#ifndef DISTBENCH_REPORT_TEXT_FAILURE_LINES_H_
#define DISTBENCH_REPORT_TEXT_FAILURE_LINES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/report/measurements/test_totals.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Returns a line for each of the most frequent causes of each RPC, and for the
// instances that stopped early. `totals` must belong to the result.
std::vector<std::string> FailureLines(const TestResult& result,
                                      const TestTotals& totals);

// Messages from elsewhere may span lines; those of the summary must not.
std::string OneLine(absl::string_view message);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TEXT_FAILURE_LINES_H_
