// Decides whether two groups of runs of a test can be compared.

#ifndef DISTBENCH_REPORT_COMPARISON_COMPARABILITY_H_
#define DISTBENCH_REPORT_COMPARISON_COMPARABILITY_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench {

// Explains why the run's numbers must not be compared with others; empty if
// they are valid.
std::string WhyInvalid(const TestRun& run);

// Describes the traffic difference between the first run of all and the first
// run that differs from it; empty if there is none. Traffic is what is sent and
// when: services, RPCs, payloads, actions. Names, labels, seeds and conditions
// are not part of it.
std::string TrafficDifference(absl::Span<const TestRun> base,
                              absl::Span<const TestRun> next);

// The same for what RPCs carry and do, their payloads and activities, at
// whatever load: for searches, which change the rest. Neither group may be
// empty.
std::string WorkDifference(absl::Span<const TestRun> base,
                           absl::Span<const TestRun> next);

// Lists the conditions that differ between base and another group, one sentence
// each: protocol drivers, placement, threads, hosts, versions. Comparing these
// is legitimate.
std::vector<std::string> ConditionDifferences(absl::Span<const TestRun> base,
                                              absl::string_view other_name,
                                              absl::Span<const TestRun> other);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_COMPARISON_COMPARABILITY_H_
