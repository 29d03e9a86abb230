#include "distbench/engine/recorder.h"

#include <algorithm>

namespace distbench {

Recorder::Recorder(int peer_count, int rpc_count, int64_t sample_capacity,
                   uint64_t seed)
    : rpc_count_(rpc_count),
      totals_(static_cast<size_t>(peer_count) * rpc_count),
      samples_(sample_capacity, seed),
      replayed_(sample_capacity, ~seed) {}

void Recorder::Count(const Sample& sample) {
  RpcTotals& totals = TotalsOf(sample.peer, sample.rpc);
  RpcCounts& counts = totals.counts;
  if (sample.warmup) {
    ++counts.warmup_count;
    return;
  }
  if (sample.error != 0) {
    ++counts.failed_count;
    ++totals.failures_by_error[sample.error];
    return;
  }
  ++counts.succeeded_count;
  counts.request_bytes += sample.request_bytes;
  counts.response_bytes += sample.response_bytes;
  counts.first_start_timestamp_ns =
      std::min(counts.first_start_timestamp_ns, sample.sent_ns);
  counts.last_end_timestamp_ns = std::max(
      counts.last_end_timestamp_ns, sample.sent_ns + sample.service_time_ns);
  totals.service_time_ns.Record(sample.service_time_ns);
  if (sample.open_loop) {
    totals.lateness_ns.Record(sample.lateness_ns);
    totals.response_time_ns.Record(sample.service_time_ns + sample.lateness_ns);
  }
}

void Recorder::KeepAll(const SampleReservoir& reservoir) {
  for (int64_t i = 0; i < reservoir.size(); ++i) samples_.Add(reservoir[i]);
}

int Recorder::InternError(absl::string_view message) {
  auto found = error_numbers_.find(message);
  if (found != error_numbers_.end()) return found->second;
  const int number = static_cast<int>(errors_.size());
  errors_.emplace_back(message);
  error_numbers_.emplace(errors_.back(), number);
  return number;
}

int Recorder::AddTrace(absl::string_view trace) {
  traces_.emplace_back(trace);
  return static_cast<int>(traces_.size()) - 1;
}

void Recorder::ForEachTotals(
    absl::FunctionRef<void(int peer, int rpc, const RpcTotals& totals)> visit)
    const {
  for (size_t i = 0; i < totals_.size(); ++i) {
    if (totals_[i] == nullptr) continue;
    visit(static_cast<int>(i / rpc_count_), static_cast<int>(i % rpc_count_),
          *totals_[i]);
  }
}

RpcTotals& Recorder::TotalsOf(int peer, int rpc) {
  std::unique_ptr<RpcTotals>& totals =
      totals_[static_cast<size_t>(peer) * rpc_count_ + rpc];
  if (totals == nullptr) totals = std::make_unique<RpcTotals>();
  return *totals;
}

}  // namespace distbench
