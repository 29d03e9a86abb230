// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/server_metrics/tail_contrast.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "distbench/base/saturating_add.h"
#include "distbench/products/server_metrics/server_metrics.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/results/walk.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::server_metrics {
namespace {

constexpr double kTail = 0.99;
constexpr int64_t kFewestRequests = 100;
constexpr double kWorstShare = 0.1;

// The time of a contrast grows with the square of them.
constexpr int64_t kMaxIntervals = 1000;

// An RPC over time, and how many of its requests ended.
struct SeriesOfRpc {
  int rpc = 0;
  report::RpcSeries series = {};
  uint64_t count = 0;
};

const stats::LogHistogram& LatencyOf(const report::IntervalTotals& totals) {
  return totals.response_time_ns.count() > 0 ? totals.response_time_ns
                                             : totals.service_time_ns;
}

// Those with the most requests first.
std::vector<SeriesOfRpc> BusiestSeries(const TestResult& result) {
  std::vector<SeriesOfRpc> all;
  for (const int rpc : report::ListRpcs(result)) {
    SeriesOfRpc& series = all.emplace_back();
    series.rpc = rpc;
    series.series = report::CollectSeries(result, rpc, kMaxIntervals);
    for (const auto& [number, totals] : series.series.intervals) {
      series.count += LatencyOf(totals).count();
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.count > b.count;
  });
  if (all.size() > kMaxContrastedRpcs) all.resize(kMaxContrastedRpcs);
  return all;
}

// The mean of the metric's judged values in each interval that has any.
std::map<int64_t, double> MeansByInterval(const MeasuredMetric& metric,
                                          int64_t interval_ns) {
  std::map<int64_t, std::pair<double, int>> sums;
  for (int i = 0; i < metric.log->values_size(); ++i) {
    if (!metric.is_judged[i]) continue;
    const int64_t middle_ns = base::SaturatingSubtract(
        metric.log->timestamps_ns(i), LookBackNs(*metric.entry) / 2);
    auto& [sum, count] = sums[middle_ns / interval_ns];
    sum += metric.log->values(i);
    ++count;
  }
  std::map<int64_t, double> means;
  for (const auto& [number, sum] : sums) {
    means[number] = sum.first / sum.second;
  }
  return means;
}

// Of each second that has both, its p99 and the value.
struct Seconds {
  std::vector<int64_t> p99_ns;
  std::vector<double> values;
};

Seconds SecondsOf(const SeriesOfRpc& rpc, const MeasuredMetric& metric) {
  Seconds seconds;
  const auto values = MeansByInterval(metric, rpc.series.interval_ns);
  for (const auto& [number, totals] : rpc.series.intervals) {
    const auto value = values.find(number);
    if (value == values.end() || totals.warmup > 0 ||
        LatencyOf(totals).count() < kFewestRequests) {
      continue;
    }
    seconds.p99_ns.push_back(LatencyOf(totals).ValueAtQuantile(kTail));
    seconds.values.push_back(value->second);
  }
  return seconds;
}

// The means of the marked values and of the others, of which the mark at i is
// that at i + shift.
std::pair<double, double> MeansAtShift(absl::Span<const double> values,
                                       const std::vector<bool>& is_marked,
                                       size_t shift) {
  double marked = 0;
  double others = 0;
  size_t count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_of_marked = is_marked[(i + shift) % values.size()];
    (is_of_marked ? marked : others) += values[i];
    count += is_of_marked ? 1 : 0;
  }
  return {marked / static_cast<double>(count),
          others / static_cast<double>(values.size() - count)};
}

std::optional<TailContrast> ContrastOf(const Seconds& seconds) {
  const size_t count = seconds.values.size();
  if (count < kFewestSeconds) return std::nullopt;
  TailContrast contrast;
  contrast.seconds = count;
  std::vector<int64_t> sorted = seconds.p99_ns;
  std::sort(sorted.rbegin(), sorted.rend());
  contrast.worst_from_ns =
      sorted[static_cast<size_t>(std::ceil(kWorstShare * count)) - 1];
  std::vector<bool> is_worst;
  for (const int64_t p99_ns : seconds.p99_ns) {
    is_worst.push_back(p99_ns >= contrast.worst_from_ns);
    contrast.worst_seconds += is_worst.back() ? 1 : 0;
  }
  // Seconds that are all alike have no worst ones.
  if (contrast.worst_seconds > count / 2) return std::nullopt;
  std::tie(contrast.worst_mean, contrast.other_mean) =
      MeansAtShift(seconds.values, is_worst, 0);
  contrast.p_value = ShiftPValue(seconds.values, is_worst);
  return contrast;
}

}  // namespace

double ShiftPValue(absl::Span<const double> values,
                   const std::vector<bool>& is_marked) {
  const auto difference = [&](size_t shift) {
    const auto [marked, others] = MeansAtShift(values, is_marked, shift);
    return std::abs(marked - others);
  };
  const double found = difference(0);
  size_t as_far = 0;
  for (size_t shift = 0; shift < values.size(); ++shift) {
    // Rounding must not tell equals apart.
    if (difference(shift) >= found * (1 - 1e-9)) ++as_far;
  }
  return static_cast<double>(as_far) / static_cast<double>(values.size());
}

std::vector<TailContrast> ContrastTails(
    const TestResult& result, absl::Span<const MeasuredMetric> metrics) {
  std::vector<TailContrast> contrasts;
  const bool has_any =
      std::any_of(metrics.begin(), metrics.end(), [](const auto& metric) {
        return metric.judged.size() >= kFewestSeconds;
      });
  if (!has_any) return contrasts;
  for (const SeriesOfRpc& rpc : BusiestSeries(result)) {
    if (rpc.series.interval_ns <= 0) continue;
    for (size_t i = 0; i < metrics.size(); ++i) {
      if (metrics[i].log == nullptr) continue;
      std::optional<TailContrast> contrast =
          ContrastOf(SecondsOf(rpc, metrics[i]));
      if (!contrast) continue;
      contrast->rpc = results::RpcName(result, rpc.rpc);
      contrast->metric = i;
      contrasts.push_back(*std::move(contrast));
    }
  }
  return contrasts;
}

}  // namespace distbench::server_metrics
