#include "distbench/engine/recorder.h"

#include <algorithm>

namespace distbench {
namespace {

// What samples, traces and samples of replays may take, each.
int64_t PartOfMemory(const Recorder::Options& options) {
  const int parts = 1 + (options.traced ? 1 : 0) + (options.replayed ? 1 : 0);
  return options.sample_memory_bytes / parts;
}

}  // namespace

Recorder::Recorder(const Options& options, RecentTimes* recent)
    : rpc_count_(options.rpc_count),
      unix_offset_ns_(options.unix_offset_ns),
      recent_(recent),
      totals_(static_cast<size_t>(options.peer_count) * options.rpc_count),
      records_(options.rpc_count),
      samples_(PartOfMemory(options) / static_cast<int64_t>(sizeof(Sample)),
               options.seed),
      replayed_(options.replayed
                    ? PartOfMemory(options) /
                          static_cast<int64_t>(sizeof(ReplayedSample))
                    : 0,
                ~options.seed),
      free_trace_bytes_(options.traced ? PartOfMemory(options) : 0) {
  TurnToInterval(0);
}

void Recorder::Count(const Sample& sample) {
  RpcRecord& record = RecordOf(sample.rpc);
  CountInSeries(sample, record.series);
  if (sample.open_loop && !sample.warmup) CountOpenLoop(sample, record);
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

void Recorder::CountInSeries(const Sample& sample, IntervalSeries& series) {
  if (sample.open_loop) {
    ++series.At(IntervalOf(sample.sent_ns - sample.lateness_ns)).offered;
  }
  if (sample.sent) ++series.At(IntervalOf(sample.sent_ns)).sent;
  const int64_t end = IntervalOf(sample.sent_ns + sample.service_time_ns);
  IntervalCounts& counts = series.At(end);
  counts.warmup += sample.warmup ? 1 : 0;
  if (sample.error != 0) {
    ++counts.failed;
    return;
  }
  ++counts.succeeded;
  counts.request_bytes += sample.request_bytes;
  counts.response_bytes += sample.response_bytes;
  series.RecordServiceTime(end, sample.service_time_ns);
  if (sample.open_loop) {
    series.RecordResponseTime(end, sample.service_time_ns + sample.lateness_ns);
  }
}

void Recorder::CountOpenLoop(const Sample& sample, RpcRecord& record) {
  ++record.offered_count;
  if (sample.sent) return;
  ++record.unsent_count;
  record.unsent_wait_ns.Record(sample.lateness_ns);
}

void Recorder::CountUnsent(int rpc, int64_t intended_ns, int64_t wait_ns,
                           int64_t count) {
  RpcRecord& record = RecordOf(rpc);
  record.offered_count += count;
  record.unsent_count += count;
  record.unsent_wait_ns.RecordN(wait_ns, count);
  record.series.At(IntervalOf(intended_ns)).offered += count;
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
  free_trace_bytes_ -= static_cast<int64_t>(sizeof(std::string) + trace.size());
  if (free_trace_bytes_ < 0) return -1;
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

RpcTotals& Recorder::NewTotals(int peer, int rpc) {
  auto& totals = totals_[static_cast<size_t>(peer) * rpc_count_ + rpc];
  totals = std::make_unique<RpcTotals>();
  return *totals;
}

RpcRecord& Recorder::NewRecord(int rpc) {
  records_[rpc] = std::make_unique<RpcRecord>(recent_);
  return *records_[rpc];
}

void Recorder::TurnToInterval(int64_t time_ns) {
  interval_ = (time_ns + unix_offset_ns_) / kIntervalNs;
  interval_start_ns_ = interval_ * kIntervalNs - unix_offset_ns_;
}

}  // namespace distbench
