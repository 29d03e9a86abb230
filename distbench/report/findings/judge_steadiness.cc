// Finding on steadiness: whether latencies had settled when the warm-up ended.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/walk.h"
#include "distbench/stats/run_interval.h"

namespace distbench::report {
namespace {

// Geweke's diagnostic (Evaluating the accuracy of sampling-based approaches to
// the calculation of posterior moments, 1992) compares the first part of a
// series with its last half. Here the series is that of the median service
// times of intervals, which are seconds except in long runs. The limits allow
// for intervals that are not independent.
constexpr double kFirstPart = 0.2;
constexpr double kLastPart = 0.5;
constexpr double kErrorsBeyondChance = 6;
constexpr double kMuchDifference = 0.2;
constexpr size_t kFewestJudgedIntervals = 10;
constexpr uint64_t kFewestPerJudgedInterval = 10;

// The medians of the complete intervals after the warm-up, in nanoseconds.
std::vector<double> Medians(
    const std::map<int64_t, IntervalTotals>& intervals) {
  std::vector<double> medians;
  if (intervals.size() < 3) return medians;
  const int64_t first = intervals.begin()->first;
  const int64_t last = intervals.rbegin()->first;
  for (const auto& [index, interval] : intervals) {
    const bool is_warmup = interval.warmup > 0;
    if (is_warmup) medians.clear();
    if (index == first || index == last || is_warmup) continue;
    if (interval.service_time_ns.count() < kFewestPerJudgedInterval) continue;
    medians.push_back(
        static_cast<double>(interval.service_time_ns.ValueAtQuantile(0.5)));
  }
  return medians;
}

void JudgeMedians(const std::string& name, absl::Span<const double> medians,
                  int64_t interval_ns, FindingList& findings) {
  const size_t count = medians.size();
  if (count < kFewestJudgedIntervals) return;
  const size_t first = static_cast<size_t>(kFirstPart * count);
  const size_t last = static_cast<size_t>(kLastPart * count);
  const absl::Span<const double> last_medians = medians.last(last);
  const double early = stats::Mean(medians.first(first));
  const double late = stats::Mean(last_medians);
  const double error =
      std::sqrt(stats::Variance(last_medians) * (1.0 / first + 1.0 / last));
  const double difference = std::abs(early - late);
  if (difference < kErrorsBeyondChance * error ||
      difference < kMuchDifference * late) {
    return;
  }
  const double seconds = static_cast<double>(interval_ns) / 1e9;
  findings.Add(
      Finding::WARN, "not_steady",
      absl::StrCat(name, ": in the first ", first * seconds,
                   " s after the warm-up the median service time was ",
                   Duration(early), ", in the last ", last * seconds, " s ",
                   Duration(late), " (Geweke's diagnostic on the medians of ",
                   Intervals(interval_ns),
                   "): it had not settled when measuring began. Lengthen the "
                   "warm-up, or look for what changed meanwhile"));
}

}  // namespace

void JudgeSteadiness(const TestResult& result, FindingList& findings) {
  // Latencies then change with it.
  if (config::HasVaryingRate(result.traffic_config())) return;
  for (int i = 0; i < result.traffic_config().rpc_descriptions_size(); ++i) {
    const RpcSeries series = CollectSeries(result, i);
    JudgeMedians(results::RpcName(result, i), Medians(series.intervals),
                 series.interval_ns, findings);
  }
}

}  // namespace distbench::report
