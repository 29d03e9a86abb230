// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/export/hdr_histogram.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/printable_line.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/walk.h"
#include "distbench/stats/outcomes.h"
#include "distbench/stats/percentile_curve.h"

namespace distbench::report {
namespace {

// HdrHistogram's default.
constexpr int kPointsPerHalving = 5;

}  // namespace

std::string RenderHdr(const SelectedRpc& rpc) {
  stats::Outcomes outcomes;
  for (const RpcMeasurements& run : rpc.runs) {
    outcomes.Merge(run.latency(rpc.latency));
  }
  const stats::LogHistogram& latency_ns = outcomes.latency_ns;
  std::string text =
      absl::StrFormat("%12s %14s %10s %14s\n\n", "Value", "Percentile",
                      "TotalCount", "1/(1-Percentile)");
  const uint64_t total = outcomes.count();
  for (const stats::CurvePoint& point :
       stats::PercentileCurve(latency_ns, kPointsPerHalving)) {
    const double share =
        static_cast<double>(point.count_at_most) / static_cast<double>(total);
    absl::StrAppendFormat(&text, "%12.6f %14.12f %10d",
                          static_cast<double>(point.value) / base::kNsPerMs,
                          share, point.count_at_most);
    if (point.count_at_most < total) {
      absl::StrAppendFormat(&text, " %14.2f", 1 / (1 - share));
    }
    text += '\n';
  }
  const bool is_empty = latency_ns.count() == 0;
  const double max_ns = is_empty ? 0.0 : static_cast<double>(latency_ns.max());
  absl::StrAppendFormat(
      &text, "#[Mean    = %12.6f, StdDeviation   = %12.6f]\n",
      latency_ns.mean() / base::kNsPerMs,
      is_empty ? 0.0 : latency_ns.standard_deviation() / base::kNsPerMs);
  absl::StrAppendFormat(&text, "#[Max     = %12.6f, Total count    = %12d]\n",
                        max_ns / base::kNsPerMs, total);
  absl::StrAppendFormat(&text, "#[Buckets = %12d, SubBuckets     = %12d]\n",
                        stats::LogHistogram::kOctaves,
                        stats::LogHistogram::kSubBuckets);
  if (outcomes.failed_count > 0) {
    absl::StrAppendFormat(&text, "#[Failed  = %12d, above all values]\n",
                          outcomes.failed_count);
  }
  if (rpc.is_simulated) {
    text += "#[Simulated: nothing of it was measured]\n";
  }
  return text;
}

namespace {

// Of version 2, with words of 8 bytes.
constexpr uint32_t kCookie = 0x1c849313;
constexpr uint32_t kCompressedCookie = 0x1c849314;

constexpr uint32_t kSignificantDigits = 2;
static_assert(stats::LogHistogram::kSubBuckets == 128,
              "two digits make as many buckets per octave");

// HdrHistogram writes numbers with the highest byte first.
template <typename Number>
void AppendNumber(Number number, std::string& bytes) {
  for (int shift = 8 * sizeof(Number) - 8; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>(number >> shift));
  }
}

// Seven bits per byte, the lowest first; a ninth byte has eight bits.
void AppendZigZag(int64_t value, std::string& bytes) {
  uint64_t rest =
      (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  for (int i = 0; i < 8 && rest >= 0x80; ++i) {
    bytes.push_back(static_cast<char>(rest | 0x80));
    rest >>= 7;
  }
  bytes.push_back(static_cast<char>(rest));
}

// The counts of all buckets up to the last that has any; -n stands for n empty
// ones. Values above the range of the buckets count in the last one.
std::string EncodeCounts(const stats::LogHistogram& histogram) {
  std::map<int, uint64_t> counts;
  for (const stats::LogHistogram::Bucket& bucket : histogram.Buckets()) {
    counts[bucket.index] = bucket.count;
  }
  if (histogram.overflow_count() > 0) {
    counts[stats::LogHistogram::kBucketCount - 1] += histogram.overflow_count();
  }
  std::string bytes;
  int next = 0;
  for (const auto& [index, count] : counts) {
    if (index > next) AppendZigZag(next - index, bytes);
    AppendZigZag(static_cast<int64_t>(count), bytes);
    next = index + 1;
  }
  return bytes;
}

std::string Compress(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string compressed(size, '\0');
  // Cannot fail: there is room, and the memory that it takes is small.
  compress(reinterpret_cast<Bytef*>(compressed.data()), &size,
           reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  compressed.resize(size);
  return compressed;
}

struct LoggedInterval {
  int64_t width_ns;
  stats::LogHistogram latency_ns;
};

// The intervals of all runs, by their starts, and what is not in them.
struct Intervals {
  std::map<int64_t, LoggedInterval> by_start_ns;
  int64_t failed_count = 0;
  int64_t warmup_intervals = 0;
  int left_out_clients = 0;
};

Intervals ListIntervals(const SelectedRpc& rpc) {
  Intervals all;
  for (const RpcMeasurements& run : rpc.runs) {
    const stats::Outcomes& outcomes = run.latency(rpc.latency);
    all.failed_count += static_cast<int64_t>(outcomes.failed_count);
    all.left_out_clients += run.series.left_out_count;
    for (const auto& [index, interval] : run.series.intervals) {
      const stats::LogHistogram& latency_ns = interval.latency_ns(rpc.latency);
      if (latency_ns.count() == 0) continue;
      if (interval.warmup > 0) {
        ++all.warmup_intervals;
        continue;
      }
      LoggedInterval& logged = all.by_start_ns[base::SaturatingMultiply(
          index, run.series.interval_ns)];
      logged.width_ns = run.series.interval_ns;
      logged.latency_ns.Merge(latency_ns);
    }
  }
  return all;
}

void AppendHeader(const SelectedRpc& rpc, const Intervals& intervals,
                  double start_s, std::string& text) {
  absl::StrAppend(&text, "#[distbench: ",
                  rpc.latency == LatencyKind::kService ? "service" : "response",
                  " times of ", base::PrintableLine(rpc.runs.front().name),
                  " in ", base::PrintableLine(rpc.test), ", in nanoseconds]\n",
                  "#[Histogram log format version 1.3]\n");
  if (rpc.is_simulated) text += "#[Simulated: nothing of it was measured]\n";
  if (intervals.failed_count > 0) {
    absl::StrAppend(&text, "#[Failed: ", intervals.failed_count,
                    " RPCs, which are in no histogram]\n");
  }
  if (intervals.warmup_intervals > 0) {
    absl::StrAppend(&text, "#[Left out: ", intervals.warmup_intervals,
                    " intervals with warm-up]\n");
  }
  if (intervals.left_out_clients > 0) {
    absl::StrAppend(&text, "#[Left out: ", intervals.left_out_clients,
                    " clients whose series do not fit the others]\n");
  }
  absl::StrAppendFormat(&text, "#[StartTime: %.3f (seconds since epoch)]\n",
                        start_s);
  absl::StrAppendFormat(&text, "#[BaseTime: %.3f (seconds since epoch)]\n",
                        start_s);
  text +=
      "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
      "\"Interval_Compressed_Histogram\"\n";
}

}  // namespace

std::string EncodeHdrHistogram(const stats::LogHistogram& histogram) {
  const std::string counts = EncodeCounts(histogram);
  std::string encoded;
  AppendNumber(kCookie, encoded);
  AppendNumber(static_cast<uint32_t>(counts.size()), encoded);
  AppendNumber(uint32_t{0}, encoded);  // offset of normalisation
  AppendNumber(kSignificantDigits, encoded);
  AppendNumber(uint64_t{1}, encoded);  // lowest value
  AppendNumber(static_cast<uint64_t>(stats::LogHistogram::kMaxValue), encoded);
  AppendNumber(std::bit_cast<uint64_t>(1.0), encoded);  // ratio of doubles
  encoded += counts;
  const std::string compressed = Compress(encoded);
  std::string framed;
  AppendNumber(kCompressedCookie, framed);
  AppendNumber(static_cast<uint32_t>(compressed.size()), framed);
  return framed + compressed;
}

std::string RenderHlog(const SelectedRpc& rpc) {
  const Intervals intervals = ListIntervals(rpc);
  const int64_t start_ns =
      intervals.by_start_ns.empty() ? 0 : intervals.by_start_ns.begin()->first;
  std::string text;
  AppendHeader(rpc, intervals, base::ToSeconds(start_ns), text);
  for (const auto& [interval_start_ns, interval] : intervals.by_start_ns) {
    absl::StrAppendFormat(
        &text, "%.3f,%.3f,%.6f,%s\n",
        base::ToSeconds(base::SaturatingSubtract(interval_start_ns, start_ns)),
        base::ToSeconds(interval.width_ns),
        static_cast<double>(interval.latency_ns.max()) / base::kNsPerMs,
        absl::Base64Escape(EncodeHdrHistogram(interval.latency_ns)));
  }
  return text;
}

// ---- The choice of an RPC ---------------------------------------------------

namespace {

// Returns the selected name, or the only one. `what` names the kind of thing.
absl::StatusOr<std::string> Choose(const std::string& selected,
                                   const std::vector<std::string>& names,
                                   absl::string_view what) {
  if (names.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the result has no ", what));
  }
  if (!selected.empty()) {
    if (std::find(names.begin(), names.end(), selected) != names.end()) {
      return selected;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("the result has no ", what, " \"", selected,
                     "\"; it has: ", absl::StrJoin(names, ", ")));
  }
  if (names.size() == 1) return names.front();
  return absl::InvalidArgumentError(absl::StrCat(
      "the format has room for a single ", what, "; choose one with --", what,
      ": ", absl::StrJoin(names, ", ")));
}

void AddOnce(const std::string& name, std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    names.push_back(name);
  }
}

std::vector<std::string> TestNamesOf(absl::Span<const TestRun> runs) {
  std::vector<std::string> names;
  for (const TestRun& run : runs) AddOnce(run.name, names);
  return names;
}

std::vector<std::string> RpcNamesOf(const std::vector<TestRun>& runs) {
  std::vector<std::string> names;
  for (const TestRun& run : runs) {
    for (const int index : ListRpcs(*run.result)) {
      AddOnce(results::RpcName(*run.result, index), names);
    }
  }
  return names;
}

bool HasResponseTimes(const std::vector<RpcMeasurements>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const RpcMeasurements& rpc) {
    return rpc.response_time.count() > 0;
  });
}

std::vector<RpcMeasurements> MeasurementsIn(const std::vector<TestRun>& runs,
                                            const std::string& rpc_name) {
  std::vector<RpcMeasurements> all;
  for (const TestRun& run : runs) {
    const TestTotals totals = AddUp(*run.result);
    for (const int index : ListRpcs(*run.result)) {
      if (results::RpcName(*run.result, index) != rpc_name) continue;
      all.push_back(MeasurementsOf(*run.result, totals, index,
                                   std::numeric_limits<int64_t>::max()));
    }
  }
  return all;
}

}  // namespace

absl::StatusOr<SelectedRpc> SelectRpc(absl::Span<const TestRun> runs,
                                      const RpcSelection& selection) {
  const absl::StatusOr<std::string> test =
      Choose(selection.test, TestNamesOf(runs), "test");
  if (!test.ok()) return test.status();
  std::vector<TestRun> repetitions;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(repetitions),
               [&](const TestRun& run) { return run.name == *test; });
  if (MixesOrigins(repetitions)) {
    return absl::InvalidArgumentError(absl::StrCat(
        *test, " has real and simulated runs; report one kind only"));
  }
  const absl::StatusOr<std::string> rpc =
      Choose(selection.rpc, RpcNamesOf(repetitions), "rpc");
  if (!rpc.ok()) return rpc.status();

  SelectedRpc selected = {
      .test = *test,
      .runs = MeasurementsIn(repetitions, *rpc),
      .is_simulated = IsSimulated(*repetitions.front().result)};
  const bool is_open_loop = HasResponseTimes(selected.runs);
  selected.latency = selection.latency.value_or(
      is_open_loop ? LatencyKind::kResponse : LatencyKind::kService);
  if (selected.latency == LatencyKind::kResponse && !is_open_loop) {
    return absl::InvalidArgumentError(
        absl::StrCat(*rpc,
                     " has no response times: these exist in open loops "
                     "only. Choose --latency=service"));
  }
  return selected;
}

}  // namespace distbench::report
