#include "distbench/report/measurements/stream_times.h"

#include "distbench/results/walk.h"

namespace distbench::report {

std::optional<results::StreamTotals> StreamsOf(const TestResult& result,
                                               const std::string& rpc) {
  std::optional<results::StreamTotals> sum;
  for (const auto& [client, log] : result.service_logs().instance_logs()) {
    for (const auto& [rpc_index, statistics] : log.stream_statistics()) {
      if (results::RpcName(result, rpc_index) != rpc) continue;
      if (!sum) sum.emplace();
      sum->Add(statistics).IgnoreError();
    }
  }
  return sum;
}

std::vector<NamedStreamTimes> StreamTimesOf(
    const results::StreamTotals& totals) {
  std::vector<NamedStreamTimes> times;
  const auto add = [&](absl::string_view name,
                       const stats::LogHistogram& times_ns) {
    if (times_ns.count() > 0) times.push_back({name, times_ns});
  };
  add("first_message", totals.first_message_ns);
  add("gap", totals.gap_ns);
  add("round_trip", totals.round_trip_ns);
  add("client_blocked", totals.client_blocked_ns);
  add("server_blocked", totals.server_blocked_ns);
  return times;
}

}  // namespace distbench::report
