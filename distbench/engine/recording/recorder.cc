// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/recording/recorder.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

// Functions that only Flush() calls are inline: a call would cost as much as
// the function does.

namespace distbench::engine {
namespace {

// The number of peers that lose their histograms per second when these exceed
// the budget. Each takes a few microseconds.
constexpr int kHistogramsDropped = 32;

// Different errors that are kept. Servers of others may say something else each
// time, without an end.
constexpr size_t kMaxErrors = 1000;
static_assert(kMaxErrors < std::numeric_limits<decltype(Sample::error)>::max());
constexpr char kOtherErrors[] =
    "other errors, after 1000 different ones that are listed";

// The part of the budget for each of samples, traces and replay samples.
int64_t PartOfMemory(const Recorder::Options& options) {
  const int parts = 1 + (options.traced ? 1 : 0) + (options.replayed ? 1 : 0);
  return options.sample_memory_bytes / parts;
}

constexpr auto ServiceTimeNs = [](const Sample& sample) {
  return sample.service_time_ns;
};
constexpr auto LatenessNs = [](const Sample& sample) {
  return sample.lateness_ns;
};
constexpr auto ResponseTimeNs = [](const Sample& sample) {
  return sample.service_time_ns + sample.lateness_ns;
};
constexpr auto IntendedNs = [](const Sample& sample) {
  return sample.sent_ns - sample.lateness_ns;
};
constexpr auto SentNs = [](const Sample& sample) { return sample.sent_ns; };
constexpr auto EndNs = [](const Sample& sample) {
  return sample.sent_ns + sample.service_time_ns;
};

// Whether both samples count in the same places, except for their intervals.
bool IsLike(const Sample& a, const Sample& b) {
  return a.peer == b.peer && a.rpc == b.rpc && a.error == b.error &&
         a.warmup == b.warmup && a.open_loop == b.open_loop && a.sent == b.sent;
}

template <typename LastNs>
inline void CountTimes(absl::Span<const Sample> batch, const LastNs& last_ns,
                       results::RpcCounts& counts) {
  int64_t first_sent_ns = counts.first_start_timestamp_ns;
  int64_t last_end_ns = counts.last_end_timestamp_ns;
  for (const Sample& sample : batch) {
    first_sent_ns = std::min(first_sent_ns, sample.sent_ns);
    last_end_ns = std::max(last_end_ns, last_ns(sample));
  }
  counts.first_start_timestamp_ns = first_sent_ns;
  counts.last_end_timestamp_ns = last_end_ns;
}

// Latencies: histograms or moments.
template <typename Latencies>
inline void RecordLatencies(absl::Span<const Sample> batch,
                            Latencies& latencies) {
  latencies.service_time_ns.RecordEach(batch, ServiceTimeNs);
  if (batch.front().open_loop) {
    latencies.lateness_ns.RecordEach(batch, LatenessNs);
    latencies.response_time_ns.RecordEach(batch, ResponseTimeNs);
  }
}

bool HasLatencies(const Sample& sample) {
  return !sample.warmup && sample.error == 0;
}

// Totals: RpcTotals or BriefTotals; `latencies` are their own.
template <typename Totals, typename Latencies>
inline void CountInTotals(absl::Span<const Sample> batch, int64_t request_bytes,
                          int64_t response_bytes, Totals& totals,
                          Latencies& latencies) {
  const Sample& first = batch.front();
  const auto count = static_cast<int64_t>(batch.size());
  if (first.warmup) {
    totals.counts.warmup_count += count;
  } else if (first.error != 0) {
    totals.counts.failed_count += count;
    totals.failures_by_error[first.error] += count;
    if (first.sent) CountTimes(batch, SentNs, totals.counts);
  } else {
    results::RpcCounts& counts = totals.counts;
    counts.succeeded_count += count;
    counts.request_bytes += request_bytes;
    counts.response_bytes += response_bytes;
    CountTimes(batch, EndNs, counts);
    RecordLatencies(batch, latencies);
  }
}

}  // namespace

Recorder::Recorder(const Options& options, stats::RecentIntervals* recent)
    : rpc_count_(options.rpc_count),
      unix_offset_ns_(options.unix_offset_ns),
      recording_memory_bytes_(options.recording_memory_bytes),
      measures_time_parts_(options.measures_time_parts),
      measures_wire_time_(options.measures_wire_time),
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
  // What tallies need takes the first one of a process milliseconds to build,
  // and they are made while requests are measured.
  StreamStatistics::descriptor();
  PolicyStatistics::descriptor();
}

void Recorder::Flush() {
  const absl::Span<const Sample> noted(noted_.data(), noted_count_);
  for (size_t counted = 0; counted < noted.size();) {
    const Batch batch = FirstBatch(noted.subspan(counted));
    Count(batch);
    counted += batch.size();
  }
  StoreSamples(noted);
  noted_count_ = 0;
}

// Prefetches all places before it writes to any of them: a sample that replaces
// another one goes to memory that is in no cache, which with small messages
// over tcp took 10 % of a client's time, and now takes 8 %.
inline void Recorder::StoreSamples(absl::Span<const Sample> noted) {
  struct Kept {
    const Sample* sample;
    Sample* place;
  };
  std::array<Kept, kMostNoted> all_kept;
  size_t count = 0;
  for (size_t i = 0; i < noted.size(); ++i) {
    if (!is_kept_[i]) continue;
    Sample* const place = samples_.NextPlace();
    if (place == nullptr) continue;
    __builtin_prefetch(place, /*rw=*/1);
    all_kept[count++] = {&noted[i], place};
  }
  for (size_t i = 0; i < count; ++i) *all_kept[i].place = *all_kept[i].sample;
}

// Returns the longest run of samples at the front that are like the first one.
// A sample that spans several intervals is a batch of its own.
inline Recorder::Batch Recorder::FirstBatch(absl::Span<const Sample> noted) {
  const Sample& first = noted.front();
  size_t count = 1;
  IntervalOf(EndNs(first));
  if (IsInLastInterval(first)) {
    while (count < noted.size() && IsLike(noted[count], first) &&
           IsInLastInterval(noted[count])) {
      ++count;
    }
  }
  return noted.first(count);
}

inline bool Recorder::IsInLastInterval(const Sample& sample) const {
  return IsInLastInterval(IntendedNs(sample)) &&
         IsInLastInterval(sample.sent_ns) && IsInLastInterval(EndNs(sample));
}

inline void Recorder::Count(Batch batch) {
  const Sample& first = batch.front();
  const Bytes bytes = BytesOf(batch);
  RpcRecord& record = RecordOf(first.rpc);
  CountInSeries(batch, bytes, record.series);
  if (first.open_loop && !first.warmup) CountOpenLoop(batch, record);
  const size_t pair = PairOf(first.peer, first.rpc);
  results::RpcTotals* totals = totals_[pair].get();
  if (totals == nullptr) [[unlikely]] {
    totals = NewTotals(pair);
    if (totals == nullptr) return CountBriefly(batch, bytes, record);
  }
  CountInTotals(batch, bytes.request, bytes.response, *totals, *totals);
  CountMore(batch, *totals);
}

void Recorder::CountBriefly(Batch batch, const Bytes& bytes,
                            RpcRecord& record) {
  const Sample& first = batch.front();
  BriefTotals& totals = BriefTotalsOf(PairOf(first.peer, first.rpc));
  CountInTotals(batch, bytes.request, bytes.response, totals, totals.moments);
  if (!HasLatencies(first)) return;
  results::RpcTotals& pooled = Made(record.pooled);
  RecordLatencies(batch, pooled);
  CountMore(batch, pooled);
}

// What most tests do not measure.
inline void Recorder::CountMore(Batch batch, results::RpcTotals& totals) const {
  if (measures_time_parts_) CountTimeParts(batch, totals);
  if (measures_wire_time_) CountWireTimes(batch, totals);
}

void Recorder::CountTimeParts(Batch batch, results::RpcTotals& totals) {
  if (!HasLatencies(batch.front())) return;
  stats::LogHistogram& queue_ns =
      totals.time_parts_ns[results::TimePart::kServerQueue];
  stats::LogHistogram& handler_ns =
      totals.time_parts_ns[results::TimePart::kServerHandler];
  stats::LogHistogram& network_ns =
      totals.time_parts_ns[results::TimePart::kNetwork];
  for (const Sample& sample : batch) {
    if (!sample.has_time_parts()) continue;
    queue_ns.Record(static_cast<int64_t>(sample.server_queue_ns));
    handler_ns.Record(static_cast<int64_t>(sample.server_handler_ns));
    network_ns.Record(sample.network_ns());
  }
}

void Recorder::CountWireTimes(Batch batch, results::RpcTotals& totals) {
  if (!HasLatencies(batch.front())) return;
  stats::LogHistogram& wire_ns = totals.time_parts_ns[results::TimePart::kWire];
  for (const Sample& sample : batch) {
    if (!sample.has_wire_time()) continue;
    wire_ns.Record(static_cast<int64_t>(sample.wire_ns));
    if (sample.wire_shared) ++totals.counts.wire_shared_count;
  }
}

inline Recorder::Bytes Recorder::BytesOf(Batch batch) {
  Bytes bytes;
  for (const Sample& sample : batch) {
    bytes.request += sample.request_bytes;
    bytes.response += sample.response_bytes;
  }
  return bytes;
}

inline void Recorder::CountInSeries(Batch batch, const Bytes& bytes,
                                    stats::IntervalSeries& series) {
  const Sample& first = batch.front();
  const auto count = static_cast<int64_t>(batch.size());
  if (first.open_loop) {
    series.At(IntervalOf(IntendedNs(first))).offered += count;
  }
  if (first.sent) series.At(IntervalOf(first.sent_ns)).sent += count;
  const int64_t end = IntervalOf(EndNs(first));
  stats::IntervalCounts& counts = series.At(end);
  if (first.warmup) counts.warmup += count;
  if (first.error != 0) {
    counts.failed += count;
    return;
  }
  counts.succeeded += count;
  counts.request_bytes += bytes.request;
  counts.response_bytes += bytes.response;
  series.ServiceTimes(end).RecordEach(batch, ServiceTimeNs);
  if (first.open_loop) {
    series.ResponseTimes(end).RecordEach(batch, ResponseTimeNs);
  }
}

void Recorder::CountOpenLoop(Batch batch, RpcRecord& record) {
  const auto count = static_cast<int64_t>(batch.size());
  record.offered_count += count;
  if (batch.front().sent) return;
  record.unsent_count += count;
  record.unsent_wait_ns.RecordEach(batch, LatenessNs);
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
  Flush();  // samples keep their order
  for (int64_t i = 0; i < reservoir.size(); ++i) samples_.Add(reservoir[i]);
}

void Recorder::SetAside(SampleReservoir reservoir) {
  if (aside_.has_value()) {
    aside_->Merge(std::move(reservoir));
  } else {
    aside_ = std::move(reservoir);
  }
}

int Recorder::InternError(absl::string_view message) {
  auto found = error_numbers_.find(message);
  if (found != error_numbers_.end()) return found->second;
  if (errors_.size() > kMaxErrors) {
    // The first of them still gets an entry of its own.
    if (errors_.size() > kMaxErrors + 1) return kMaxErrors + 1;
    message = kOtherErrors;
  }
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
    absl::FunctionRef<void(int peer, int rpc, const results::RpcTotals& totals)>
        visit) const {
  for (size_t i = 0; i < totals_.size(); ++i) {
    const int peer = static_cast<int>(i / rpc_count_);
    const int rpc = static_cast<int>(i % rpc_count_);
    if (totals_[i] != nullptr) {
      visit(peer, rpc, *totals_[i]);
    } else if (is_brief(peer, rpc)) {
      results::RpcTotals totals;
      totals.counts = brief_totals_[i]->counts;
      totals.moments = brief_totals_[i]->moments;
      totals.failures_by_error = brief_totals_[i]->failures_by_error;
      visit(peer, rpc, totals);
    }
  }
}

// Returns null if the budget leaves no room for histograms.
results::RpcTotals* Recorder::NewTotals(size_t pair) {
  const bool is_brief =
      !brief_totals_.empty() && brief_totals_[pair] != nullptr;
  if (is_brief || detail_bytes_ >= recording_memory_bytes_ / 2) return nullptr;
  totals_[pair] = std::make_unique<results::RpcTotals>();
  results::RpcTotals& totals = *totals_[pair];
  totals.service_time_ns = stats::LogHistogram(&detail_bytes_);
  totals.response_time_ns = stats::LogHistogram(&detail_bytes_);
  totals.lateness_ns = stats::LogHistogram(&detail_bytes_);
  if (measures_time_parts_) {
    for (const results::TimePart part : results::kTimeParts) {
      totals.time_parts_ns.try_emplace(part, &detail_bytes_);
    }
  }
  if (measures_wire_time_) {
    totals.time_parts_ns.try_emplace(results::TimePart::kWire, &detail_bytes_);
  }
  detail_bytes_ += totals.memory_bytes();
  detailed_pairs_.push_back(pair);
  return &totals;
}

BriefTotals& Recorder::BriefTotalsOf(size_t pair) {
  if (brief_totals_.empty()) brief_totals_.resize(totals_.size());
  return Made(brief_totals_[pair]);
}

RpcRecord& Recorder::NewRecord(int rpc) {
  records_[rpc] = std::make_unique<RpcRecord>(series_width_);
  series_.push_back(&records_[rpc]->series);
  return *records_[rpc];
}

int64_t Recorder::recording_memory_bytes() const {
  int64_t bytes = detail_bytes_;
  for (const stats::IntervalSeries* series : series_)
    bytes += series->memory_bytes();
  return bytes;
}

void Recorder::OnNewSecond() {
  CloseSeries();
  KeepPeersWithinBudget();
  series_width_ = stats::IntervalSeries::KeepWithin(
      recording_memory_bytes_ - detail_bytes_, series_width_, series_);
}

void Recorder::CloseSeries() {
  stats::RecentIntervals::Parts parts;
  for (int rpc = 0; rpc < rpc_count_; ++rpc) {
    if (records_[rpc] == nullptr) continue;
    records_[rpc]->series.Close(
        [&](int64_t step, const stats::IntervalSeries::Interval& recorded) {
          if (recent_ != nullptr) parts.push_back({rpc, step, recorded});
        });
  }
  if (!parts.empty()) recent_->Publish(std::move(parts));
}

void Recorder::KeepPeersWithinBudget() {
  for (int i = 0; i < kHistogramsDropped && !detailed_pairs_.empty(); ++i) {
    if (detail_bytes_ <= recording_memory_bytes_ / 2) return;
    DropLastHistograms();
  }
}

void Recorder::DropLastHistograms() {
  const size_t pair = detailed_pairs_.back();
  detailed_pairs_.pop_back();
  results::RpcTotals& totals = *totals_[pair];
  detail_bytes_ -= totals.memory_bytes();
  RpcRecord& record = RecordOf(static_cast<int>(pair % rpc_count_));
  Made(record.pooled).MergeHistograms(totals);
  totals.DropHistograms();
  BriefTotalsOf(pair) = {
      .counts = totals.counts,
      .moments = totals.moments,
      .failures_by_error = std::move(totals.failures_by_error)};
  totals_[pair] = nullptr;
}

void Recorder::TurnToInterval(int64_t time_ns) {
  interval_ = (time_ns + unix_offset_ns_) / stats::kSeriesStepNs;
  interval_start_ns_ = interval_ * stats::kSeriesStepNs - unix_offset_ns_;
  if (interval_ <= last_interval_) return;
  last_interval_ = interval_;
  OnNewSecond();
}

namespace {

// The samples that one worker has set aside, and the number of them to keep.
struct Part {
  Recorder* recorder;
  SampleReservoir samples;
  int64_t unseen;  // RPCs that have not been drawn
  int64_t quota = 0;
};

int64_t Below(int64_t limit, std::mt19937_64& random) {
  return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
}

// Divides the limit between the workers by draws without replacement from all
// RPCs. A reservoir has at least as many samples as its quota, unless memory
// was short.
void DrawQuotas(int64_t limit, std::vector<Part>& parts,
                std::mt19937_64& random) {
  int64_t unseen = 0;
  for (const Part& part : parts) unseen += part.unseen;
  for (int64_t i = 0; i < limit && unseen > 0; ++i, --unseen) {
    int64_t drawn = Below(unseen, random);
    for (Part& part : parts) {
      if (drawn < part.unseen) {
        --part.unseen;
        ++part.quota;
        break;
      }
      drawn -= part.unseen;
    }
  }
}

// Selection sampling (Knuth, TAOCP 2, 3.4.2, algorithm S), which keeps the
// order.
SampleReservoir Choose(const Part& part, std::mt19937_64& random) {
  int64_t wanted = std::min(part.quota, part.samples.size());
  SampleReservoir chosen(wanted, /*seed=*/0);
  for (int64_t i = 0; wanted > 0; ++i) {
    if (Below(part.samples.size() - i, random) >= wanted) continue;
    chosen.Add(part.samples[i]);
    --wanted;
  }
  return chosen;
}

}  // namespace

void KeepOfMainList(int64_t limit, absl::Span<Recorder* const> recorders,
                    uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Part> parts;
  for (Recorder* recorder : recorders) {
    std::optional<SampleReservoir> samples = recorder->TakeAside();
    if (!samples.has_value()) continue;
    const int64_t seen = samples->seen_count();
    parts.push_back({recorder, *std::move(samples), seen});
  }
  DrawQuotas(limit, parts, random);
  for (const Part& part : parts) part.recorder->KeepAll(Choose(part, random));
}

}  // namespace distbench::engine
