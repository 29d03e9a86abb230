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
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/interval_series.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/recent_intervals.h"
#include "distbench/stats/reservoir.h"

namespace distbench {

// One RPC as its client saw it; RpcSample in a compact form. Times are
// monotonic, in nanoseconds.
struct Sample {
  int32_t rpc = 0;
  int32_t peer = 0;  // as Routes::CountedUnder() returned it
  int64_t request_bytes = 0;
  int64_t sent_ns = 0;
  // Not beside request_bytes: a compiler copies what is side by side here and
  // in ClientCall by one load, which has to wait for the stores of both.
  int64_t response_bytes = 0;
  int64_t service_time_ns = 0;
  int64_t lateness_ns = 0;  // open loop only
  int32_t error = 0;        // 0: succeeded; else as InternError() returned it
  int32_t trace = -1;       // as AddTrace() returned it; -1: not traced
  bool warmup = false;
  bool open_loop = false;
  bool through_channel = false;  // of several servers
  bool sent = true;              // false: failed before it could be sent
};

// An RPC of a replay trace, and where it belongs.
struct ReplayedSample {
  Sample sample;
  int64_t execution = 0;  // of a trace; unique within the worker
  int64_t execution_start_ns = 0;
  int32_t record = 0;  // position in the trace
};

// Samples of one action list's execution, where it keeps a limited number.
using SampleReservoir = Reservoir<Sample>;

// One RPC of one worker, all its peers together.
struct RpcRecord {
  explicit RpcRecord(int64_t series_width) : series(series_width) {}

  // By second of Unix time; see RpcTimeSeries.
  IntervalSeries series;

  // Of open loops, without warm-up; see OfferedLoad.
  int64_t offered_count = 0;
  int64_t unsent_count = 0;
  int64_t held_back_count = 0;
  LogHistogram unsent_wait_ns;

  // The histograms of peers that have none of their own; null if all have.
  std::unique_ptr<RpcTotals> pooled;
};

// RpcTotals without histograms.
struct BriefTotals {
  RpcCounts counts;
  LatencyMoments moments;
  std::map<int32_t, int64_t> failures_by_error;
};

// What one worker measures: exact statistics per RPC and peer, and per RPC and
// second, within a budget; samples within another one. Takes no lock. Allocates
// for the first RPC to a peer, for each second, for new octaves of histograms
// and for growing sets of samples only. Not thread-safe.
//
// Peers may use half of the first budget for histograms. Later ones, and the
// last ones if histograms grow, get BriefTotals, and their latencies go into
// those of RpcRecord::pooled. Series may use what peers leave; when that is
// used up, their intervals become twice as long. All of this is looked after
// once a second, in little steps, so that no RPC waits long for it.
//
// RPCs are noted one by one as they end, and recorded together by Flush(): what
// one look-up finds serves many of them, and a tight loop does the rest.
class Recorder {
 public:
  struct Options {
    int peer_count = 0;
    int rpc_count = 0;

    // For histograms per peer, and series; what is allocated once per RPC or
    // peer, whatever happens, comes on top.
    int64_t recording_memory_bytes = std::numeric_limits<int64_t>::max();

    // For samples, those of replay traces (if there are any) and traces of
    // RPCs (if any is `traced`), in equal parts. Samples beyond it are chosen
    // by reservoir, traces beyond it are dropped.
    int64_t sample_memory_bytes = 0;
    bool traced = false;
    bool replayed = false;

    // What to add to monotonic time to get Unix time.
    int64_t unix_offset_ns = 0;
    uint64_t seed = 0;
  };

  // recent: null, or is told what was measured in each second, once the first
  // RPC of a later one is recorded. Must outlive the recorder.
  explicit Recorder(const Options& options, RecentIntervals* recent = nullptr);

  // Notes an RPC that has ended: the caller sets all members of the sample that
  // this returns, before it notes another one. `kept`: whether the sample is
  // offered to be kept, or just counted.
  Sample& Note(bool kept) {
    if (noted_count_ == kMostNoted) Flush();
    is_kept_[noted_count_] = kept;
    return noted_[noted_count_++];
  }

  // Records what has been noted. It is not seen before.
  void Flush();

  // Counts RPCs that were to be sent at intended_ns, and had waited for wait_ns
  // when it became certain that they never would be. No warm-up.
  void CountUnsent(int rpc, int64_t intended_ns, int64_t wait_ns,
                   int64_t count);

  // Counts an iteration that an in-flight cap made later than intended. No
  // warm-up.
  void CountHeldBack(int rpc) { ++RecordOf(rpc).held_back_count; }

  void KeepReplayed(const ReplayedSample& sample) { replayed_.Add(sample); }

  // Offers what a list's execution has kept.
  void KeepAll(const SampleReservoir& reservoir);

  // Likewise, of a part of the main list, whose other parts other workers may
  // have run: KeepOfMainList() (limited_samples.h) keeps it, or nobody does. All
  // parts have the same capacity.
  void SetAside(SampleReservoir reservoir);
  std::optional<SampleReservoir> TakeAside() {
    return std::exchange(aside_, std::nullopt);
  }

  // The number of a message in this recorder's dictionary; the message must not
  // be empty. Equal messages have equal numbers.
  int InternError(absl::string_view message);

  // Keeps a serialised TraceContext for a sample, and returns its number; -1 if
  // there is no memory left for it.
  int AddTrace(absl::string_view trace);

  // What has been recorded, up to the last Flush().
  absl::Span<const std::string> errors() const { return errors_; }
  const std::string& trace(int number) const { return traces_[number]; }
  const SampleReservoir& samples() const { return samples_; }
  const Reservoir<ReplayedSample>& replayed() const { return replayed_; }
  int64_t sample_capacity() const { return samples_.capacity(); }
  int rpc_count() const { return rpc_count_; }
  // Null if nothing of the RPC was recorded.
  const RpcRecord* record(int rpc) const { return records_[rpc].get(); }
  void ForEachTotals(
      absl::FunctionRef<void(int peer, int rpc, const RpcTotals& totals)> visit)
      const;

  // Whether the peer has no histograms of its own.
  bool is_brief(int peer, int rpc) const {
    return !brief_totals_.empty() &&
           brief_totals_[PairOf(peer, rpc)] != nullptr;
  }

  // What histograms per peer and series take of their budget.
  int64_t recording_memory_bytes() const;

 private:
  size_t PairOf(int peer, int rpc) const {
    return static_cast<size_t>(peer) * rpc_count_ + rpc;
  }
  RpcRecord& RecordOf(int rpc) {
    return records_[rpc] != nullptr ? *records_[rpc] : NewRecord(rpc);
  }
  RpcTotals* NewTotals(size_t pair);
  BriefTotals& BriefTotalsOf(size_t pair);
  RpcRecord& NewRecord(int rpc);

  // RPCs that were noted one after the other and count in the same places.
  using Batch = absl::Span<const Sample>;
  struct Bytes {
    int64_t request = 0;
    int64_t response = 0;
  };

  // Enough for look-ups to cost little, few enough for the nearest cache.
  static constexpr size_t kMostNoted = 32;

  Batch FirstBatch(absl::Span<const Sample> noted);
  void Keep(absl::Span<const Sample> noted);
  void Count(Batch batch);
  void CountBriefly(Batch batch, const Bytes& bytes, RpcRecord& record);
  static Bytes BytesOf(Batch batch);
  void CountInSeries(Batch batch, const Bytes& bytes, IntervalSeries& series);
  static void CountOpenLoop(Batch batch, RpcRecord& record);

  // Most times lie in the interval of the one before.
  int64_t IntervalOf(int64_t time_ns) {
    if (!IsInLastInterval(time_ns)) [[unlikely]] {
      TurnToInterval(time_ns);
    }
    return interval_;
  }
  bool IsInLastInterval(int64_t time_ns) const {
    return time_ns >= interval_start_ns_ &&
           time_ns - interval_start_ns_ < kSeriesStepNs;
  }
  bool IsInLastInterval(const Sample& sample) const;
  void TurnToInterval(int64_t time_ns);

  // Once a second.
  void OnNewSecond();
  void CloseSeries();
  void KeepPeersWithinBudget();
  void DropLastHistograms();

  const int rpc_count_;
  const int64_t unix_offset_ns_;
  const int64_t recording_memory_bytes_;
  RecentIntervals* const recent_;
  int64_t interval_ = 0;           // of the last IntervalOf()
  int64_t interval_start_ns_ = 0;  // monotonic
  int64_t last_interval_ = 0;
  size_t noted_count_ = 0;
  std::array<Sample, kMostNoted> noted_;
  std::array<bool, kMostNoted> is_kept_;
  // By peer, then RPC: either of them, or neither. Brief ones: empty if there
  // are none.
  std::vector<std::unique_ptr<RpcTotals>> totals_;
  std::vector<std::unique_ptr<BriefTotals>> brief_totals_;
  std::vector<size_t> detailed_pairs_;  // of totals_, in order of their making
  int64_t detail_bytes_ = 0;            // of totals_
  int64_t series_width_ = 1;
  std::vector<std::unique_ptr<RpcRecord>> records_;  // by RPC
  std::vector<IntervalSeries*> series_;              // of records_
  SampleReservoir samples_;
  std::optional<SampleReservoir> aside_;
  Reservoir<ReplayedSample> replayed_;
  std::vector<std::string> errors_ = {""};
  absl::flat_hash_map<std::string, int> error_numbers_;
  std::vector<std::string> traces_;
  int64_t free_trace_bytes_;
};

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_RECORDING_RECORDER_H_
