#ifndef DISTBENCH_ENGINE_RECORDER_H_
#define DISTBENCH_ENGINE_RECORDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/reservoir.h"

namespace distbench {

// One RPC as its client saw it; RpcSample in a compact form. Times are
// monotonic, in nanoseconds.
struct Sample {
  int32_t rpc = 0;
  int32_t peer = 0;  // as Routes::CountedUnder() returned it
  int64_t request_bytes = 0;
  int64_t response_bytes = 0;
  int64_t sent_ns = 0;
  int64_t service_time_ns = 0;
  int64_t lateness_ns = 0;  // open loop only
  int32_t error = 0;        // 0: succeeded; else as InternError() returned it
  int32_t trace = -1;       // as AddTrace() returned it; -1: not traced
  bool warmup = false;
  bool open_loop = false;
  bool through_channel = false;  // of several servers
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

// What one worker measures: exact statistics per RPC and peer, samples within a
// budget. Allocates for the first RPC to a peer, for new octaves of histograms
// and for growing sets of samples only. Not thread-safe.
class Recorder {
 public:
  // Samples beyond the capacity are chosen by reservoir; those of replay traces
  // have another one of the same capacity.
  Recorder(int peer_count, int rpc_count, int64_t sample_capacity,
           uint64_t seed);

  // Counts an RPC; does not keep the sample.
  void Count(const Sample& sample);

  // Offers a sample to be kept.
  void Keep(const Sample& sample) { samples_.Add(sample); }

  void KeepReplayed(const ReplayedSample& sample) { replayed_.Add(sample); }

  // Offers what a list's execution has kept.
  void KeepAll(const SampleReservoir& reservoir);

  // The number of a message in this recorder's dictionary; the message must not
  // be empty. Equal messages have equal numbers.
  int InternError(absl::string_view message);

  // Keeps a serialised TraceContext for a sample, and returns its number.
  int AddTrace(absl::string_view trace);

  // What has been recorded.
  absl::Span<const std::string> errors() const { return errors_; }
  const std::string& trace(int number) const { return traces_[number]; }
  const SampleReservoir& samples() const { return samples_; }
  const Reservoir<ReplayedSample>& replayed() const { return replayed_; }
  void ForEachTotals(
      absl::FunctionRef<void(int peer, int rpc, const RpcTotals& totals)> visit)
      const;

 private:
  RpcTotals& TotalsOf(int peer, int rpc);

  const int rpc_count_;
  std::vector<std::unique_ptr<RpcTotals>> totals_;  // by peer, then RPC
  SampleReservoir samples_;
  Reservoir<ReplayedSample> replayed_;
  std::vector<std::string> errors_ = {""};
  absl::flat_hash_map<std::string, int> error_numbers_;
  std::vector<std::string> traces_;
};

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_RECORDER_H_
