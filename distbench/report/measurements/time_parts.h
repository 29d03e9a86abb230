#ifndef DISTBENCH_REPORT_MEASUREMENTS_TIME_PARTS_H_
#define DISTBENCH_REPORT_MEASUREMENTS_TIME_PARTS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::report {

// One of the parts into which the time of an RPC divides.
struct NamedTimes {
  absl::string_view name;
  const stats::LogHistogram& times_ns;  // not empty
};

// Returns the parts in the order in which an RPC passes through them:
// "lateness" (the wait in the client, for open loops only), "network",
// "server_queue" and "server_handler". Empty if no server reported its parts.
// The result refers to `totals`.
std::vector<NamedTimes> TimePartsOf(const results::RpcTotals& totals);

// Returns the histogram of a part, which may be empty.
const stats::LogHistogram& TimesOf(const results::RpcTotals& totals,
                                   results::TimePart part);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_TIME_PARTS_H_
