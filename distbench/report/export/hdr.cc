#include "distbench/report/export/hdr.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/base/time_units.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/walk.h"

namespace distbench {
namespace {

// HdrHistogram's default.
constexpr int kPointsPerHalving = 5;

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
      AddOnce(RpcName(*run.result, index), names);
    }
  }
  return names;
}

struct Latencies {
  Outcomes service_time;
  Outcomes response_time;
};

Latencies AddUpLatencies(const std::vector<TestRun>& runs,
                         const std::string& rpc_name) {
  Latencies latencies;
  for (const TestRun& run : runs) {
    const TestTotals totals = AddUp(*run.result);
    for (const int index : ListRpcs(*run.result)) {
      if (RpcName(*run.result, index) != rpc_name) continue;
      const RpcMeasurements rpc = MeasurementsOf(
          *run.result, totals, index, std::numeric_limits<int64_t>::max());
      latencies.service_time.Merge(rpc.service_time);
      latencies.response_time.Merge(rpc.response_time);
    }
  }
  return latencies;
}

double StandardDeviation(const LogHistogram& histogram) {
  const double mean = histogram.mean();
  const double mean_square =
      histogram.sum_of_squares() / static_cast<double>(histogram.count());
  return std::sqrt(std::max(0.0, mean_square - mean * mean));
}

}  // namespace

absl::StatusOr<Outcomes> SelectLatency(absl::Span<const TestRun> runs,
                                       const HdrSelection& selection) {
  const absl::StatusOr<std::string> test =
      Choose(selection.test, TestNamesOf(runs), "test");
  if (!test.ok()) return test.status();
  std::vector<TestRun> repetitions;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(repetitions),
               [&](const TestRun& run) { return run.name == *test; });
  const absl::StatusOr<std::string> rpc =
      Choose(selection.rpc, RpcNamesOf(repetitions), "rpc");
  if (!rpc.ok()) return rpc.status();

  Latencies latencies = AddUpLatencies(repetitions, *rpc);
  const bool is_open_loop = latencies.response_time.count() > 0;
  const LatencyKind kind = selection.latency.value_or(
      is_open_loop ? LatencyKind::kResponse : LatencyKind::kService);
  if (kind == LatencyKind::kService) {
    return std::move(latencies.service_time);
  }
  if (!is_open_loop) {
    return absl::InvalidArgumentError(
        absl::StrCat(*rpc,
                     " has no response times: these exist in open loops "
                     "only. Choose --latency=service"));
  }
  return std::move(latencies.response_time);
}

std::string RenderHdr(const Outcomes& outcomes) {
  const LogHistogram& latency_ns = outcomes.latency_ns;
  std::string text =
      absl::StrFormat("%12s %14s %10s %14s\n\n", "Value", "Percentile",
                      "TotalCount", "1/(1-Percentile)");
  const uint64_t total = outcomes.count();
  for (const CurvePoint& point :
       PercentileCurve(latency_ns, kPointsPerHalving)) {
    const double share =
        static_cast<double>(point.count_at_most) / static_cast<double>(total);
    absl::StrAppendFormat(&text, "%12.6f %14.12f %10d",
                          static_cast<double>(point.value) / kNsPerMs, share,
                          point.count_at_most);
    if (point.count_at_most < total) {
      absl::StrAppendFormat(&text, " %14.2f", 1 / (1 - share));
    }
    text += '\n';
  }
  const bool is_empty = latency_ns.count() == 0;
  const double max_ns = is_empty ? 0.0 : static_cast<double>(latency_ns.max());
  absl::StrAppendFormat(
      &text, "#[Mean    = %12.6f, StdDeviation   = %12.6f]\n",
      latency_ns.mean() / kNsPerMs,
      is_empty ? 0.0 : StandardDeviation(latency_ns) / kNsPerMs);
  absl::StrAppendFormat(&text, "#[Max     = %12.6f, Total count    = %12d]\n",
                        max_ns / kNsPerMs, total);
  absl::StrAppendFormat(&text, "#[Buckets = %12d, SubBuckets     = %12d]\n",
                        LogHistogram::kOctaves, LogHistogram::kSubBuckets);
  if (outcomes.failed_count > 0) {
    absl::StrAppendFormat(&text, "#[Failed  = %12d, above all values]\n",
                          outcomes.failed_count);
  }
  return text;
}

}  // namespace distbench
