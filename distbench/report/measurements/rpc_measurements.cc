// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/rpc_measurements.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/walk.h"

namespace distbench::report {

std::optional<double> Amplification(const PolicyStatistics& attempts) {
  if (attempts.request_count() == 0) return std::nullopt;
  return static_cast<double>(attempts.attempt_count()) /
         static_cast<double>(attempts.request_count());
}

std::optional<double> WastedShare(const PolicyStatistics& attempts,
                                  int64_t succeeded_count) {
  if (attempts.attempt_count() == 0) return std::nullopt;
  // A lost process may have left counts that do not belong together.
  const int64_t used =
      std::min({succeeded_count, attempts.succeeded_attempt_count(),
                attempts.attempt_count()});
  return 1 - static_cast<double>(used) /
                 static_cast<double>(attempts.attempt_count());
}

namespace {

// Which of an RPC's traffic a time is about.
enum class Traffic { kDue, kDueOrSent };

// When there was traffic, by intervals.
struct TrafficTime {
  int64_t begin_ns = std::numeric_limits<int64_t>::max();
  int64_t warmup_end_ns = -1;  // of the last interval with warm-up
  int64_t end_ns = -1;
  int64_t width_ns = 0;
};

template <typename Visit>
void ForEachInterval(const TestResult& result, int rpc_index, Visit visit) {
  for (const auto& [client, log] : result.service_logs().instance_logs()) {
    const auto found = log.rpc_time_series().find(rpc_index);
    if (found == log.rpc_time_series().end()) continue;
    const int64_t width_ns = found->second.interval_ns();
    if (width_ns <= 0) continue;
    for (const RpcInterval& interval : found->second.intervals()) {
      if (interval.index() < 0) continue;
      visit(interval, base::SaturatingMultiply(interval.index(), width_ns),
            width_ns);
    }
  }
}

TrafficTime TimeOf(const TestResult& result, int rpc_index, Traffic traffic) {
  TrafficTime time;
  ForEachInterval(
      result, rpc_index,
      [&](const RpcInterval& interval, int64_t begin_ns, int64_t width_ns) {
        const int64_t end_ns = base::SaturatingAdd(begin_ns, width_ns);
        time.begin_ns = std::min(time.begin_ns, begin_ns);
        if (interval.warmup_count() > 0) {
          time.warmup_end_ns = std::max(time.warmup_end_ns, end_ns);
        }
        const bool was_sent =
            traffic == Traffic::kDueOrSent && interval.sent_count() > 0;
        if (was_sent || interval.offered_count() > 0) {
          time.end_ns = std::max(time.end_ns, end_ns);
        }
        time.width_ns = std::max(time.width_ns, width_ns);
      });
  return time;
}

// Where in the last interval the traffic ended, if no event tells: as far as
// the requests that were due in it reach, at the rate of the interval before.
// Closed loops, in which none are due, may have covered all of it.
int64_t LikelyEnd(const TestResult& result, int rpc_index,
                  const TrafficTime& time) {
  const int64_t last_begin_ns =
      base::SaturatingSubtract(time.end_ns, time.width_ns);
  const int64_t before_begin_ns =
      base::SaturatingSubtract(last_begin_ns, time.width_ns);
  double last = 0;
  double before = 0;
  ForEachInterval(
      result, rpc_index,
      [&](const RpcInterval& interval, int64_t begin_ns, int64_t /*width*/) {
        const auto due = static_cast<double>(interval.offered_count());
        if (begin_ns >= last_begin_ns && begin_ns < time.end_ns) last += due;
        if (begin_ns >= before_begin_ns && begin_ns < last_begin_ns) {
          before += due;
        }
      });
  if (last <= 0 || last >= before) return time.end_ns;
  return last_begin_ns +
         std::llround(static_cast<double>(time.width_ns) * last / before);
}

// When the first of the requests that count as offered was due: those before it
// are of the warm-up. As exact as an interval, as if all of it was covered.
int64_t FirstDue(const TestResult& result, int rpc_index,
                 const TrafficTime& time) {
  std::map<int64_t, double> due_by_begin;
  double warmup = 0;
  ForEachInterval(
      result, rpc_index,
      [&](const RpcInterval& interval, int64_t begin_ns, int64_t /*width*/) {
        const auto due = static_cast<double>(interval.offered_count());
        due_by_begin[begin_ns] += due;
        warmup += due;
      });
  for (const auto& [client, log] : result.service_logs().instance_logs()) {
    const auto load = log.offered_loads().find(rpc_index);
    if (load == log.offered_loads().end()) continue;
    warmup -= static_cast<double>(load->second.offered_count());
  }
  double before = 0;
  for (const auto& [begin_ns, due] : due_by_begin) {
    // Numbers of a damaged result need not belong together.
    if (due > 0 && before + due > warmup) {
      const double part = std::max(0.0, warmup - before) / due;
      return base::SaturatingAdd(
          begin_ns, std::llround(static_cast<double>(time.width_ns) * part));
    }
    before += due;
  }
  return time.end_ns;
}

// A bound of an interval, or the event within it that is the real bound.
int64_t BoundWithin(int64_t event_ns, int64_t begin_ns, int64_t end_ns,
                    int64_t bound_ns) {
  return event_ns > begin_ns && event_ns < end_ns ? event_ns : bound_ns;
}

}  // namespace

std::optional<int64_t> DeadlineOf(const TestResult& result, int rpc_index) {
  const auto& rpcs = result.traffic_config().rpc_descriptions();
  if (rpc_index < 0 || rpc_index >= rpcs.size() ||
      rpcs[rpc_index].deadline_us() <= 0) {
    return std::nullopt;
  }
  return base::SaturatingMultiply(rpcs[rpc_index].deadline_us(),
                                  base::kNsPerUs);
}

int64_t GoodputOf(int64_t succeeded_count,
                  const stats::LogHistogram& response_time_ns,
                  std::optional<int64_t> deadline_ns) {
  if (!deadline_ns || response_time_ns.count() == 0) return succeeded_count;
  return std::min(
      succeeded_count,
      static_cast<int64_t>(response_time_ns.CountAtMost(*deadline_ns)));
}

namespace {

// The time without the warm-up; see MeasuredNs() and OfferedNs().
int64_t TrafficNs(const TestResult& result, int rpc_index,
                  const results::RpcCounts& counts, Traffic traffic) {
  const TrafficTime time = TimeOf(result, rpc_index, traffic);
  if (time.end_ns <= time.begin_ns) return counts.duration_ns();
  const RunInfo& run = result.run_info();
  const auto within_first = [&](int64_t event_ns, int64_t otherwise_ns) {
    return BoundWithin(event_ns, time.begin_ns,
                       base::SaturatingAdd(time.begin_ns, time.width_ns),
                       otherwise_ns);
  };
  // A slow request of the warm-up ends among those that are measured.
  int64_t begin_ns =
      time.warmup_end_ns >= 0
          ? std::max(time.begin_ns, std::min(counts.first_start_timestamp_ns,
                                             time.warmup_end_ns))
          : within_first(counts.first_start_timestamp_ns,
                         within_first(run.start_timestamp_ns(), time.begin_ns));
  // In an overload, those that were due after the warm-up wait for it to be
  // sent, and it may never be.
  if (traffic == Traffic::kDue && time.warmup_end_ns >= 0) {
    const int64_t due_ns = FirstDue(result, rpc_index, time);
    if (due_ns < base::SaturatingSubtract(begin_ns, time.width_ns)) {
      begin_ns = due_ns;
    }
  }
  const int64_t last_begin_ns =
      base::SaturatingSubtract(time.end_ns, time.width_ns);
  int64_t end_ns = BoundWithin(run.end_timestamp_ns(), last_begin_ns,
                               time.end_ns, LikelyEnd(result, rpc_index, time));
  end_ns =
      BoundWithin(counts.last_end_timestamp_ns, last_begin_ns, end_ns, end_ns);
  return std::max<int64_t>(0, base::SaturatingSubtract(end_ns, begin_ns));
}

}  // namespace

int64_t MeasuredNs(const TestResult& result, int rpc_index,
                   const results::RpcCounts& counts) {
  return TrafficNs(result, rpc_index, counts, Traffic::kDueOrSent);
}

int64_t OfferedNs(const TestResult& result, int rpc_index,
                  const results::RpcCounts& counts) {
  return TrafficNs(result, rpc_index, counts, Traffic::kDue);
}

std::optional<double> OfferedPerSecond(const OfferedLoad& load,
                                       int64_t offered_ns) {
  if (load.offered_count() <= 0 || offered_ns <= 0) return std::nullopt;
  return PerSecond(static_cast<double>(load.offered_count()), offered_ns);
}

std::vector<NamedTimes> StreamTimesOf(const StreamStatistics& streams) {
  std::vector<NamedTimes> times;
  const auto add = [&](absl::string_view name, const Histogram& times_ns) {
    NamedTimes each = {name, results::HistogramOf(times_ns)};
    if (each.times_ns.count() > 0) times.push_back(std::move(each));
  };
  add("first_message", streams.first_message_ns());
  add("gap", streams.gap_ns());
  add("round_trip", streams.round_trip_ns());
  add("client_blocked", streams.client_blocked_ns());
  add("server_blocked", streams.server_blocked_ns());
  return times;
}

const stats::LogHistogram& TimesOf(const results::RpcTotals& totals,
                                   results::TimePart part) {
  static const stats::LogHistogram* const no_times = new stats::LogHistogram;
  const auto found = totals.time_parts_ns.find(part);
  return found == totals.time_parts_ns.end() ? *no_times : found->second;
}

std::vector<NamedTimes> TimePartsOf(const results::RpcTotals& totals) {
  if (TimesOf(totals, results::TimePart::kNetwork).count() == 0) return {};
  std::vector<NamedTimes> parts;
  if (totals.lateness_ns.count() > 0) {
    parts.push_back({"lateness", totals.lateness_ns});
  }
  for (const results::TimePart part :
       {results::TimePart::kNetwork, results::TimePart::kServerQueue,
        results::TimePart::kServerHandler}) {
    const stats::LogHistogram& times_ns = TimesOf(totals, part);
    if (times_ns.count() > 0)
      parts.push_back({results::NameOf(part), times_ns});
  }
  return parts;
}

RpcMeasurements MeasurementsOf(const TestResult& result,
                               const TestTotals& totals, int rpc_index,
                               int64_t max_intervals) {
  RpcMeasurements rpc;
  rpc.name = results::RpcName(result, rpc_index);
  const auto find = [&](const auto& by_rpc, auto& value) {
    const auto found = by_rpc.find(rpc.name);
    if (found != by_rpc.end()) value = found->second;
  };
  find(totals.rpcs, rpc.totals);
  find(totals.failures, rpc.failures);
  find(totals.offered, rpc.offered);
  find(totals.streams, rpc.streams);
  find(totals.attempts, rpc.attempts);
  rpc.deadline_ns = DeadlineOf(result, rpc_index);
  rpc.measured_ns = MeasuredNs(result, rpc_index, rpc.totals.counts);
  if (rpc.offered) {
    rpc.offered_per_second = OfferedPerSecond(
        *rpc.offered, OfferedNs(result, rpc_index, rpc.totals.counts));
  }
  rpc.service_time = ServiceTimeOf(rpc.totals);
  rpc.response_time = ResponseTimeOf(totals, rpc.name);
  rpc.series = CollectSeries(result, rpc_index, max_intervals);
  rpc.traffic = SpanOfTraffic(result.run_info(), rpc.totals.counts, rpc.series);
  return rpc;
}

void ForEachRpc(const TestResult& result, int64_t max_intervals,
                absl::FunctionRef<void(const RpcMeasurements& rpc)> visit) {
  const TestTotals totals = AddUp(result);
  for (const int rpc_index : ListRpcs(result)) {
    visit(MeasurementsOf(result, totals, rpc_index, max_intervals));
  }
}

const stats::Outcomes& RpcMeasurements::latency(LatencyKind kind) const {
  return kind == LatencyKind::kResponse ? response_time : service_time;
}

LatencyKind RpcMeasurements::latency_kind() const {
  return response_time.count() > 0 ? LatencyKind::kResponse
                                   : LatencyKind::kService;
}

int64_t RpcMeasurements::goodput_count() const {
  return GoodputOf(totals.counts.succeeded_count, response_time.latency_ns,
                   deadline_ns);
}

double RpcMeasurements::goodput_per_second() const {
  return PerSecond(goodput_count(), measured_ns);
}

Percentile EstimatePercentile(const stats::Outcomes& outcomes,
                              absl::Span<const stats::Outcomes> blocks,
                              double percent) {
  const double quantile = percent / 100;
  return {
      percent, outcomes.ValueAtQuantile(quantile),
      stats::IntervalOfQuantile(outcomes, blocks, quantile, kReportConfidence)};
}

std::vector<Percentile> EstimatePercentiles(
    const stats::Outcomes& outcomes,
    const std::vector<stats::Outcomes>& blocks) {
  std::vector<Percentile> percentiles;
  for (const double percent :
       {50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999}) {
    if (!stats::SupportsQuantile(outcomes.count(), percent / 100)) break;
    percentiles.push_back(EstimatePercentile(outcomes, blocks, percent));
  }
  return percentiles;
}

}  // namespace distbench::report
