// What an instance did to its clients on purpose: faults, and admission.

#ifndef DISTBENCH_RESULTS_SERVER_LOG_H_
#define DISTBENCH_RESULTS_SERVER_LOG_H_

#include "absl/status/status.h"
#include "proto/results.pb.h"

namespace distbench::results {

// The times that a FaultLog keeps.
inline constexpr int kMaxFaultTimes = 1000;

// Adds fault_logs and admission_log of `from` to those of `into`.
// INVALID_ARGUMENT if a count is negative, a time ends before it begins, or a
// histogram is inconsistent; then `into` has a part of them.
absl::Status MergeServerLog(const ServicePerformanceLog& from,
                            ServicePerformanceLog& into);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_SERVER_LOG_H_
