#include "distbench/report/text/streams_text.h"

#include <optional>

#include "absl/strings/str_format.h"
#include "distbench/report/measurements/stream_times.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/results/walk.h"

namespace distbench::report {

std::vector<std::string> StreamLines(const TestResult& result) {
  std::vector<std::string> lines;
  for (const int rpc_index : ListRpcs(result)) {
    const std::string rpc = results::RpcName(result, rpc_index);
    const std::optional<results::StreamTotals> totals = StreamsOf(result, rpc);
    if (!totals) continue;
    lines.push_back(absl::StrFormat(
        "  %s: streams: %d requests: %d (%d bytes) responses: %d (%d bytes)",
        rpc, totals->stream_count, totals->request_messages,
        totals->request_bytes, totals->response_messages,
        totals->response_bytes));
    for (const auto& [name, times_ns] : StreamTimesOf(*totals)) {
      lines.push_back(absl::StrFormat(
          "  %s: %s: N: %d mean: %.0fns median: %dns 90%%: %dns 99%%: %dns "
          "max: %dns",
          rpc, name, times_ns.count(), times_ns.mean(),
          times_ns.ValueAtQuantile(0.5), times_ns.ValueAtQuantile(0.9),
          times_ns.ValueAtQuantile(0.99), times_ns.max()));
    }
  }
  return lines;
}

}  // namespace distbench::report
