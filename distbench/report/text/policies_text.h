#ifndef DISTBENCH_REPORT_TEXT_POLICIES_TEXT_H_
#define DISTBENCH_REPORT_TEXT_POLICIES_TEXT_H_

#include <string>
#include <vector>

#include "proto/results.pb.h"

namespace distbench::report {

// Returns the section "Policies" of the summary: for each RPC with a policy,
// its load and goodput, its attempts, and what else its policy did. Empty if
// there is none.
std::vector<std::string> PolicyLines(const TestResult& result);

// Returns the section "Recovery": how long each RPC whose goodput a server's
// fault lowered took to recover from it. Empty if there were no faults.
std::vector<std::string> RecoveryLines(const TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TEXT_POLICIES_TEXT_H_
