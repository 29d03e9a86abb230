// What a run's own evidence says about whether to believe it.

#ifndef DISTBENCH_REPORT_FINDINGS_JUDGE_H_
#define DISTBENCH_REPORT_FINDINGS_JUDGE_H_

#include <vector>

#include "proto/results.pb.h"

namespace distbench {

// Looks at what a test measured of itself: what it was to send and did, how
// late it sent, whether its latencies had settled, how busy its hosts were, how
// well their clocks are known. Each finding says what was found, what it means
// and what to do; docs/measuring.md lists the codes and their limits.
//
// A finding is INVALID only if the numbers are false. A closed loop that
// saturates the machine is doing its job.
//
// Needs service_logs, but no samples. Findings that the result already has are
// not repeated.
std::vector<Finding> Judge(const TestResult& result);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_FINDINGS_JUDGE_H_
