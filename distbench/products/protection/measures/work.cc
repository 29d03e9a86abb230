// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/measures/work.h"

#include <algorithm>
#include <limits>

#include "absl/functional/function_ref.h"
#include "distbench/base/saturating_add.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/time_series.h"

namespace distbench::protection {
namespace {

// Times of the interval in nanoseconds must fit 64 bits.
bool FitsTime(int64_t index, int64_t interval_ns) {
  return index >= 0 &&
         index < std::numeric_limits<int64_t>::max() / interval_ns;
}

bool IsValid(const ActivitySeries& series) {
  if (series.interval_ns() <= 0) return false;
  return std::all_of(
      series.intervals().begin(), series.intervals().end(),
      [&](const ActivityInterval& interval) {
        return FitsTime(interval.index(), series.interval_ns()) &&
               std::min({interval.offered_count(), interval.completed_count(),
                         interval.input_bytes(), interval.output_bytes()}) >= 0;
      });
}

void Add(const ActivityInterval& from, WorkTotals& into) {
  base::SaturatingAddTo(into.offered_count, from.offered_count());
  base::SaturatingAddTo(into.completed_count, from.completed_count());
  base::SaturatingAddTo(into.bytes, from.input_bytes());
  base::SaturatingAddTo(into.bytes, from.output_bytes());
  // A damaged histogram adds nothing.
  results::AddHistogram(from.read_ns(), into.read_ns).IgnoreError();
  results::AddHistogram(from.write_ns(), into.write_ns).IgnoreError();
}

void Add(const RpcInterval& from, WorkTotals& into) {
  base::SaturatingAddTo(into.offered_count, from.offered_count());
  base::SaturatingAddTo(into.completed_count, from.succeeded_count());
  base::SaturatingAddTo(into.message_bytes, from.request_bytes());
  base::SaturatingAddTo(into.message_bytes, from.response_bytes());
}

template <typename Series>
void AddSeries(const Series& from, WorkSeries& into) {
  if (into.interval_ns % from.interval_ns() != 0) return;
  const int64_t ratio = into.interval_ns / from.interval_ns();
  for (const auto& interval : from.intervals()) {
    Add(interval, into.intervals[interval.index() / ratio]);
  }
}

// The valid series of one role.
struct SeriesList {
  std::vector<const ActivitySeries*> activities;
  std::vector<const RpcTimeSeries*> rpcs;
};

SeriesList ListSeries(const TestResult& result, WorkRole role) {
  SeriesList list;
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    if (IsAntagonist(instance) != (role == WorkRole::kAntagonist)) continue;
    for (const auto& [name, activity] : log.activity_logs()) {
      if (IsValid(activity.series()))
        list.activities.push_back(&activity.series());
    }
    if (role == WorkRole::kSubject) continue;
    for (const auto& [index, series] : log.rpc_time_series()) {
      if (report::HasValidTimes(series)) list.rpcs.push_back(&series);
    }
  }
  return list;
}

WorkRate RateOf(const WorkTotals& totals, double duration_ns) {
  const auto per_second = [&](int64_t amount) {
    return static_cast<double>(amount) * 1e9 / duration_ns;
  };
  return {.offered = per_second(totals.offered_count),
          .completed = per_second(totals.completed_count),
          .bytes = per_second(totals.bytes),
          .message_bytes = per_second(totals.message_bytes)};
}

void VisitWithin(const WorkSeries& series, const TimeSpan& span,
                 absl::FunctionRef<void(const WorkTotals&)> visit) {
  const IntervalRange range = WholeIntervals(span, series.interval_ns);
  if (range.count() == 0) return;
  const auto end = series.intervals.lower_bound(range.end);
  for (auto i = series.intervals.lower_bound(range.begin); i != end; ++i) {
    visit(i->second);
  }
}

}  // namespace

WorkSeries CollectWork(const TestResult& result, WorkRole role) {
  const SeriesList list = ListSeries(result, role);
  WorkSeries work;
  for (const ActivitySeries* series : list.activities) {
    work.interval_ns = std::max(work.interval_ns, series->interval_ns());
  }
  for (const RpcTimeSeries* series : list.rpcs) {
    work.interval_ns = std::max(work.interval_ns, series->interval_ns());
  }
  for (const ActivitySeries* series : list.activities) AddSeries(*series, work);
  for (const RpcTimeSeries* series : list.rpcs) AddSeries(*series, work);
  return work;
}

std::optional<WorkRate> MeanRate(const WorkSeries& series,
                                 const TimeSpan& span) {
  if (series.interval_ns == 0) return std::nullopt;
  const int64_t count = WholeIntervals(span, series.interval_ns).count();
  if (count == 0) return std::nullopt;
  WorkTotals sum;
  VisitWithin(series, span, [&](const WorkTotals& totals) {
    base::SaturatingAddTo(sum.offered_count, totals.offered_count);
    base::SaturatingAddTo(sum.completed_count, totals.completed_count);
    base::SaturatingAddTo(sum.bytes, totals.bytes);
    base::SaturatingAddTo(sum.message_bytes, totals.message_bytes);
  });
  return RateOf(sum, static_cast<double>(count) *
                         static_cast<double>(series.interval_ns));
}

std::optional<WorkRate> RateAt(const WorkSeries& series, int64_t time_ns) {
  if (series.interval_ns == 0) return std::nullopt;
  const auto found = series.intervals.find(time_ns / series.interval_ns);
  if (found == series.intervals.end()) return WorkRate();
  return RateOf(found->second, static_cast<double>(series.interval_ns));
}

void NestedLatencyList::Add(const WorkSeries& series, const TimeSpan& span,
                            stats::LogHistogram WorkTotals::*latency) {
  if (series.interval_ns == 0) return;
  VisitWithin(series, span, [&](const WorkTotals& totals) {
    const stats::LogHistogram& histogram = totals.*latency;
    if (histogram.count() == 0) return;
    const auto at = [&](double quantile) {
      return static_cast<double>(histogram.ValueAtQuantile(quantile));
    };
    p50_.push_back(at(0.5));
    p90_.push_back(at(0.9));
    p99_.push_back(at(0.99));
    max_.push_back(static_cast<double>(histogram.max()));
  });
}

NestedLatencies NestedLatencyList::Distributions() const {
  return {.p50 = ValueDistribution(p50_),
          .p90 = ValueDistribution(p90_),
          .p99 = ValueDistribution(p99_),
          .max = ValueDistribution(max_)};
}

}  // namespace distbench::protection
