// Checks which of its objectives a run met.

#ifndef DISTBENCH_REPORT_OBJECTIVES_CHECK_OBJECTIVES_H_
#define DISTBENCH_REPORT_OBJECTIVES_CHECK_OBJECTIVES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/checks/check.h"
#include "proto/results.pb.h"

namespace distbench {

// Checks the objectives of the test's config, then `more`, each once. An
// objective is met if the 95 % confidence interval of its metric lies within
// the limit, missed if it lies beyond, and undecided otherwise. It is missed if
// the test failed or did not measure the metric.
std::vector<Check> CheckObjectives(const TestResult& result,
                                   absl::Span<const std::string> more = {});

}  // namespace distbench

#endif  // DISTBENCH_REPORT_OBJECTIVES_CHECK_OBJECTIVES_H_
