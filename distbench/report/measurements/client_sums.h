// What each client of a test recorded for all its servers together, added up
// over the clients: the attempts of RPCs with a policy, the messages of those
// that stream, and the load that was offered.
//
// Clients are added in the order of their names. One whose numbers are damaged,
// or too large to add to those before it, is left out, so that it does not hide
// the others; see ForEachLeftOut().

#ifndef DISTBENCH_REPORT_MEASUREMENTS_CLIENT_SUMS_H_
#define DISTBENCH_REPORT_MEASUREMENTS_CLIENT_SUMS_H_

#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Returns the attempts of an RPC; nothing if it has no policy.
std::optional<PolicyStatistics> AttemptsOf(const TestResult& result,
                                           const std::string& rpc);

// Returns the messages of an RPC; nothing if it does not stream.
std::optional<StreamStatistics> StreamsOf(const TestResult& result,
                                          const std::string& rpc);

// Returns the RPC's offered load in open loops; nothing if no client has one.
std::optional<OfferedLoad> OfferedLoadOf(const TestResult& result,
                                         const std::string& rpc);

// Visits what these sums leave out: "attempts of query from client/0", and why.
void ForEachLeftOut(const TestResult& result,
                    absl::FunctionRef<void(const std::string& what,
                                           const absl::Status& problem)>
                        visit);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_CLIENT_SUMS_H_
