// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_RECORDING_RECORDER_H_
#define DISTBENCH_ENGINE_RECORDING_RECORDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/interval_series.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/recent_intervals.h"
#include "distbench/stats/reservoir.h"

namespace distbench::engine {

// One RPC as its client saw it: a compact form of RpcSample. Times are
// monotonic, in nanoseconds.
struct Sample {
  static constexpr float kNotReported = -1;

  int32_t rpc = 0;
  int32_t peer = 0;  // from Routes::CountedUnder()
  uint32_t request_bytes = 0;
  // Only if time parts are measured. Rounded to 24 bits, so that a sample fits
  // a cache line: 0.06 ppm is less than the clocks of two hosts differ by.
  float server_queue_ns = kNotReported;
  int64_t sent_ns = 0;
  // Kept apart from request_bytes: compilers copy adjacent fields, here and in
  // ClientCall, by one load, which would have to wait for the stores to both.
  // Such waits, and samples in two cache lines, took a sixth of a client's time
  // with small messages over tcp.
  int64_t response_bytes = 0;
  int64_t service_time_ns = 0;
  int64_t lateness_ns = 0;                 // open loop only
  int32_t trace = -1;                      // from AddTrace(); -1: not traced
  float server_handler_ns = kNotReported;  // as server_queue_ns
  float wire_ns = kNotReported;            // same, if wire times are measured
  int16_t error = 0;  // 0: succeeded; else as InternError() returned it
  bool warmup : 1 = false;
  bool open_loop : 1 = false;
  bool through_channel : 1 = false;  // one with several servers
  bool sent : 1 = true;              // false: failed before it could be sent
  bool wire_shared : 1 = false;      // see ClientCall

  bool has_time_parts() const { return server_handler_ns >= 0; }
  bool has_wire_time() const { return wire_ns >= 0; }

  // The service time that the server does not account for. Negative if the
  // server's clock is so much faster. Requires has_time_parts().
  int64_t network_ns() const {
    return service_time_ns - static_cast<int64_t>(server_queue_ns) -
           static_cast<int64_t>(server_handler_ns);
  }
};
static_assert(sizeof(Sample) == 64);

// An RPC of a replay trace, and its place in the trace.
struct ReplayedSample {
  Sample sample;
  int64_t execution = 0;  // unique within the worker
  int64_t execution_start_ns = 0;
  int32_t record = 0;  // position in the trace
};

// The samples of one execution of an action list that keeps a limited number.
using SampleReservoir = stats::Reservoir<Sample>;

// The measurements of one RPC by one worker, over all peers.
struct RpcRecord {
  explicit RpcRecord(int64_t series_width) : series(series_width) {}

  // Per second of Unix time; see RpcTimeSeries.
  stats::IntervalSeries series;

  // Open loops only, warm-up excluded; see OfferedLoad.
  int64_t offered_count = 0;
  int64_t unsent_count = 0;
  int64_t held_back_count = 0;
  stats::LogHistogram unsent_wait_ns;

  // Shared histograms of the peers that have none of their own; null if all
  // have.
  std::unique_ptr<results::RpcTotals> pooled;

  // Null if the RPC does not stream.
  std::unique_ptr<results::TallyOf<StreamStatistics>> streams;

  // Null if the RPC has no policy.
  std::unique_ptr<results::TallyOf<PolicyStatistics>> policy;
};

// RpcTotals without histograms.
struct BriefTotals {
  results::RpcCounts counts;
  results::LatencyMoments moments;
  std::map<int32_t, int64_t> failures_by_error;
};

// The measurements of one worker: exact statistics per RPC and peer and per RPC
// and second, within one budget, and samples within another. Takes no lock.
// Allocates only for the first RPC to a peer, for each second, for new octaves
// of histograms and for growing sets of samples. Not thread-safe.
//
// Histograms per peer may use half of the first budget. Peers that come later,
// and the most recent ones if histograms grow, get BriefTotals instead, and
// their latencies go into RpcRecord::pooled. Series may use what peers leave;
// when that is used up, their intervals are doubled. Both are enforced once a
// second, in small steps, so that no RPC is delayed for long.
//
// RPCs are noted one by one as they end, and recorded together by Flush(), so
// that one look-up serves many of them and a tight loop does the rest. With
// small messages over tcp, a client's engine takes 674 instructions per RPC
// this way, and 857 otherwise.
class Recorder {
 public:
  struct Options {
    int peer_count = 0;
    int rpc_count = 0;

    // For series and for histograms per peer. Excludes what is always allocated
    // once per RPC or peer.
    int64_t recording_memory_bytes = std::numeric_limits<int64_t>::max();

    // For samples, replay samples (if `replayed`) and traces of RPCs (if
    // `traced`), in equal parts. Beyond it, samples are chosen by reservoir and
    // traces are dropped.
    int64_t sample_memory_bytes = 0;
    bool traced = false;
    bool replayed = false;

    // Whether samples of RPCs that succeed have time parts if the server
    // reported them.
    bool measures_time_parts = false;

    // Same of wire times, if the kernel stamped the RPCs.
    bool measures_wire_time = false;

    // Add this to monotonic time to get Unix time.
    int64_t unix_offset_ns = 0;
    uint64_t seed = 0;
  };

  // `recent`, if not null, receives the measurements of each second once the
  // first RPC of a later one is recorded. It must outlive the recorder.
  explicit Recorder(const Options& options,
                    stats::RecentIntervals* recent = nullptr);

  // Notes an RPC that has ended. The caller sets all members of the returned
  // sample before it notes another RPC; those of time parts and wire times only
  // if they are measured. `kept`: whether the sample may be kept, rather than
  // just counted.
  Sample& AddSample(bool kept) {
    if (noted_count_ == kMostNoted) Flush();
    is_kept_[noted_count_] = kept;
    return noted_[noted_count_++];
  }

  // Records the noted RPCs. Nothing else sees them before this call.
  void Flush();

  // Counts RPCs that were due at intended_ns and had waited for wait_ns when it
  // became certain that they would never be sent. Not for warm-up.
  void CountUnsent(int rpc, int64_t intended_ns, int64_t wait_ns,
                   int64_t count);

  // Counts RPCs that an in-flight cap delayed. Not for warm-up.
  void CountHeldBack(int rpc, int count) {
    RecordOf(rpc).held_back_count += count;
  }

  // The totals of an RPC that streams, for the caller to add to.
  results::TallyOf<StreamStatistics>& StreamsOf(int rpc) {
    return Made(RecordOf(rpc).streams);
  }

  // The totals of an RPC with a policy, for the caller to add to.
  results::TallyOf<PolicyStatistics>& PolicyOf(int rpc) {
    return Made(RecordOf(rpc).policy);
  }

  // Counts an attempt of an RPC with a policy in its series.
  void CountAttempt(int rpc, int64_t time_ns) {
    ++RecordOf(rpc).series.At(IntervalOf(time_ns)).attempts;
  }

  void KeepReplayed(const ReplayedSample& sample) { replayed_.Add(sample); }

  // Offers the samples that an execution of a list has kept.
  void KeepAll(const SampleReservoir& reservoir);

  // Sets aside the samples of this worker's part of the main list, for
  // KeepOfMainList(). Without that call they are dropped.
  // All parts have the same capacity.
  void SetAside(SampleReservoir reservoir);
  std::optional<SampleReservoir> TakeAside() {
    return std::exchange(aside_, std::nullopt);
  }

  // Returns the number of an error message in this recorder's dictionary. Equal
  // messages have equal numbers; after the first 1000 different ones, all
  // others have the same. The message must not be empty.
  int InternError(absl::string_view message);

  // Keeps a serialised TraceContext for a sample and returns its number, or -1
  // if the budget is used up.
  int AddTrace(absl::string_view trace);

  // The recorded data, up to the last Flush().
  absl::Span<const std::string> errors() const { return errors_; }
  const std::string& trace(int number) const { return traces_[number]; }
  const SampleReservoir& samples() const { return samples_; }
  const stats::Reservoir<ReplayedSample>& replayed() const { return replayed_; }
  int64_t sample_capacity() const { return samples_.capacity(); }
  int rpc_count() const { return rpc_count_; }
  // Null if nothing was recorded for the RPC.
  const RpcRecord* record(int rpc) const { return records_[rpc].get(); }
  void ForEachTotals(absl::FunctionRef<void(int peer, int rpc,
                                            const results::RpcTotals& totals)>
                         visit) const;

  // Whether the peer has no histograms of its own.
  bool is_brief(int peer, int rpc) const {
    return !brief_totals_.empty() &&
           brief_totals_[PairOf(peer, rpc)] != nullptr;
  }

  // The memory that histograms per peer and series use of their budget.
  int64_t recording_memory_bytes() const;

 private:
  size_t PairOf(int peer, int rpc) const {
    return static_cast<size_t>(peer) * rpc_count_ + rpc;
  }
  template <typename T>
  static T& Made(std::unique_ptr<T>& object) {
    if (object == nullptr) object = std::make_unique<T>();
    return *object;
  }
  RpcRecord& RecordOf(int rpc) {
    return records_[rpc] != nullptr ? *records_[rpc] : NewRecord(rpc);
  }
  results::RpcTotals* NewTotals(size_t pair);
  BriefTotals& BriefTotalsOf(size_t pair);
  RpcRecord& NewRecord(int rpc);

  // Consecutive noted RPCs that count in the same places.
  using Batch = absl::Span<const Sample>;
  struct Bytes {
    int64_t request = 0;
    int64_t response = 0;
  };

  // Large enough to spread the cost of look-ups, small enough for the L1 cache.
  static constexpr size_t kMostNoted = 32;

  Batch FirstBatch(absl::Span<const Sample> noted);
  void StoreSamples(absl::Span<const Sample> noted);
  void Count(Batch batch);
  void CountBriefly(Batch batch, const Bytes& bytes, RpcRecord& record);
  static Bytes BytesOf(Batch batch);
  void CountInSeries(Batch batch, const Bytes& bytes,
                     stats::IntervalSeries& series);
  static void CountOpenLoop(Batch batch, RpcRecord& record);
  void CountMore(Batch batch, results::RpcTotals& totals) const;
  static void CountTimeParts(Batch batch, results::RpcTotals& totals);
  static void CountWireTimes(Batch batch, results::RpcTotals& totals);

  // Most times lie in the same interval as the previous one.
  int64_t IntervalOf(int64_t time_ns) {
    if (!IsInLastInterval(time_ns)) [[unlikely]] {
      TurnToInterval(time_ns);
    }
    return interval_;
  }
  bool IsInLastInterval(int64_t time_ns) const {
    return time_ns >= interval_start_ns_ &&
           time_ns - interval_start_ns_ < stats::kSeriesStepNs;
  }
  bool IsInLastInterval(const Sample& sample) const;
  void TurnToInterval(int64_t time_ns);

  // Runs once a second.
  void OnNewSecond();
  void CloseSeries();
  void KeepPeersWithinBudget();
  void DropLastHistograms();

  const int rpc_count_;
  const int64_t unix_offset_ns_;
  const int64_t recording_memory_bytes_;
  const bool measures_time_parts_;
  const bool measures_wire_time_;
  stats::RecentIntervals* const recent_;
  int64_t interval_ = 0;           // result of the last IntervalOf()
  int64_t interval_start_ns_ = 0;  // monotonic
  int64_t last_interval_ = 0;
  size_t noted_count_ = 0;
  std::array<Sample, kMostNoted> noted_;
  std::array<bool, kMostNoted> is_kept_;
  // By peer, then RPC: at most one of the two is not null. brief_totals_ is
  // empty if no peer has brief totals.
  std::vector<std::unique_ptr<results::RpcTotals>> totals_;
  std::vector<std::unique_ptr<BriefTotals>> brief_totals_;
  std::vector<size_t> detailed_pairs_;  // pairs in totals_, oldest first
  int64_t detail_bytes_ = 0;            // memory of totals_
  int64_t series_width_ = 1;
  std::vector<std::unique_ptr<RpcRecord>> records_;  // by RPC
  std::vector<stats::IntervalSeries*> series_;       // the series in records_
  SampleReservoir samples_;
  std::optional<SampleReservoir> aside_;
  stats::Reservoir<ReplayedSample> replayed_;
  std::vector<std::string> errors_ = {""};
  absl::flat_hash_map<std::string, int> error_numbers_;
  std::vector<std::string> traces_;
  int64_t free_trace_bytes_;
};

// Keeps `limit` of the samples that the workers have set aside, or all of them
// if there are fewer. Each RPC is kept with the same probability, as far as the
// workers' budgets allow. Equal seeds make equal choices. Requires that the
// workers have ended.
void KeepOfMainList(int64_t limit, absl::Span<Recorder* const> recorders,
                    uint64_t seed);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_RECORDING_RECORDER_H_
