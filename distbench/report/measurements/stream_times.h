#ifndef DISTBENCH_REPORT_MEASUREMENTS_STREAM_TIMES_H_
#define DISTBENCH_REPORT_MEASUREMENTS_STREAM_TIMES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/results/rpc_totals.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Returns the messages of an RPC over all its clients; nothing if it does not
// stream. Statistics that are not valid are left out.
std::optional<results::StreamTotals> StreamsOf(const TestResult& result,
                                               const std::string& rpc);

struct NamedStreamTimes {
  absl::string_view name;
  const stats::LogHistogram& times_ns;  // not empty
};

// Returns those of "first_message", "gap", "round_trip", "client_blocked" and
// "server_blocked" that have values. The result refers to `totals`.
std::vector<NamedStreamTimes> StreamTimesOf(
    const results::StreamTotals& totals);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_STREAM_TIMES_H_
