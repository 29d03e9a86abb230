// Judges from a run's own measurements whether its numbers can be trusted.

#ifndef DISTBENCH_REPORT_FINDINGS_JUDGE_H_
#define DISTBENCH_REPORT_FINDINGS_JUDGE_H_

#include <vector>

#include "proto/results.pb.h"

namespace distbench::report {

// Examines what a test measured about itself: the load that it offered and
// sent, its lateness, whether latencies had settled, how busy the hosts were,
// and how accurate their clocks are. Each finding says what was found, what it
// means and what to do. docs/measuring.md lists the codes and their limits.
//
// Products add their own findings by a FindingRule (parts/finding_rule.h).
//
// A finding is INVALID only if the numbers are false. A closed loop that
// saturates the machine is working as intended.
//
// Requires service_logs, but no samples. Does not repeat findings that the
// result already contains.
std::vector<Finding> Judge(const TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_FINDINGS_JUDGE_H_
