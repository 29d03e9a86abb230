// The attempts of RPCs with a policy (CallPolicy), over all clients.
//
//   PolicyStatistics of each client ──AttemptsOf──▶ PolicyTotals
//     ──Amplification, WastedShare──▶ text, tables, objectives, comparisons

#ifndef DISTBENCH_REPORT_MEASUREMENTS_ATTEMPT_TOTALS_H_
#define DISTBENCH_REPORT_MEASUREMENTS_ATTEMPT_TOTALS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "distbench/results/rpc_totals.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Returns the attempts of an RPC over all its clients; nothing if it has no
// policy. Clients whose statistics are damaged are left out.
std::optional<results::PolicyTotals> AttemptsOf(const TestResult& result,
                                                const std::string& rpc);

// Returns the attempts per request; nothing if no request ended.
std::optional<double> Amplification(const results::PolicyTotals& attempts);

// Returns which share of the attempts was for nothing: those that failed, that
// the caller gave up, or that succeeded after the request had its outcome.
// Nothing if there were no attempts. `succeeded_count`: of the requests.
std::optional<double> WastedShare(const results::PolicyTotals& attempts,
                                  int64_t succeeded_count);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_ATTEMPT_TOTALS_H_
