// Whether two groups of runs of a test may be compared at all.

#ifndef DISTBENCH_REPORT_COMPARISON_COMPARABILITY_H_
#define DISTBENCH_REPORT_COMPARISON_COMPARABILITY_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench {

// Why the numbers of a run are not to be compared with any others; empty if
// nothing is wrong with them.
std::string WhyInvalid(const TestRun& run);

// How the traffic of the runs differs, for the first one that differs from the
// first of all; empty if it does not. Traffic is what is sent when: services,
// RPCs, payloads, actions. Names, labels and seeds are no part of it, nor are
// conditions.
std::string TrafficDifference(absl::Span<const TestRun> base,
                              absl::Span<const TestRun> next);

// Conditions that differ between the groups, a sentence each: protocol drivers,
// placement, threads, hosts, versions. Comparing these is what people do.
std::vector<std::string> ConditionDifferences(absl::Span<const TestRun> base,
                                              absl::Span<const TestRun> next);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_COMPARISON_COMPARABILITY_H_
