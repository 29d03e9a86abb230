// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/measure.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "distbench/base/human_units.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/resource_usage.h"
#include "distbench/stats/distributions.h"
#include "distbench/stats/growth.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/quantile_interval.h"
#include "distbench/stats/ratio_error.h"
#include "distbench/stats/run_interval.h"
#include "distbench/stats/share_interval.h"

namespace distbench::report {
namespace {

using stats::Metric;

absl::Status NothingMeasured(const RpcMeasurements& rpc) {
  return absl::NotFoundError(
      absl::StrCat("no RPC \"", rpc.name, "\" ended in the measured time"));
}

// `error` is the standard error of the value's logarithm.
Estimate OfValue(double value, double error) {
  const double factor = std::exp(kErrorsPerInterval * error);
  return {.value = value,
          .lower = value / factor,
          .upper = value * factor,
          .log_error = error};
}

Estimate OfIndependent(Estimate estimate) {
  estimate.is_of_independent = true;
  if (std::isfinite(estimate.value)) {
    estimate.log_error = std::max(estimate.log_error, kUnknownError);
  }
  return estimate;
}

// Returns the standard error of all amounts divided by all counts, relative to
// it, from at least two blocks. It is larger for few blocks, so that
// kErrorsPerInterval of it reach the bounds of Student's t distribution.
double RelativeErrorOf(absl::Span<const stats::BlockAmount> blocks,
                       double ratio) {
  return stats::HalfWidthOfRatio(blocks, kReportConfidence) / ratio /
         kErrorsPerInterval;
}

// ---- Latencies and other times ----------------------------------------------

// Infinite if the request failed.
double ToNs(int64_t value_ns) {
  return value_ns == stats::Outcomes::kFailed
             ? std::numeric_limits<double>::infinity()
             : static_cast<double>(value_ns);
}

std::optional<double> ToBound(const std::optional<int64_t>& value_ns) {
  if (!value_ns) return std::nullopt;
  return ToNs(*value_ns);
}

double LogError(int64_t value, const stats::QuantileInterval& interval) {
  if (value == stats::Outcomes::kFailed) return 0;
  if (!interval.lower || !interval.upper || *interval.lower <= 0 ||
      *interval.upper == stats::Outcomes::kFailed || value <= 0) {
    return kUnknownError;
  }
  return std::log(static_cast<double>(*interval.upper) / *interval.lower) /
         (2 * kErrorsPerInterval);
}

Estimate OfPercentile(int64_t value_ns,
                      const stats::QuantileInterval& interval) {
  return {.value = ToNs(value_ns),
          .lower = ToBound(interval.lower),
          .upper = ToBound(interval.upper),
          .log_error = LogError(value_ns, interval)};
}

// Returns the standard error relative to the mean of at least two latencies,
// which is larger for few of them, as RelativeErrorOf() is for few blocks. With
// blocks, it comes from their spread, because neighbouring latencies depend on
// each other.
double ErrorOfMean(const stats::LogHistogram& latency,
                   const std::vector<stats::Outcomes>& blocks) {
  const double count = static_cast<double>(latency.count());
  const double mean = std::max(latency.mean(), 1.0);
  const double variance =
      std::max(0.0, latency.sum_of_squares() / count - mean * mean);
  const double few =
      stats::StudentTQuantile((1 + kReportConfidence) / 2, count - 1) /
      kErrorsPerInterval;
  const double independent = few * std::sqrt(variance / (count - 1)) / mean;
  std::vector<stats::BlockAmount> sums;
  for (const stats::Outcomes& block : blocks) {
    const double block_count = static_cast<double>(block.latency_ns.count());
    if (block_count > 0) sums.push_back({block.latency_ns.sum(), block_count});
  }
  if (sums.size() < 2) return independent;
  return std::max(independent, RelativeErrorOf(sums, mean));
}

// A single latency does not tell how others differ.
Estimate OfMean(const stats::Outcomes& outcomes,
                const std::vector<stats::Outcomes>& blocks) {
  const stats::LogHistogram& latency_ns = outcomes.latency_ns;
  if (latency_ns.count() == 0) {
    return OfPercentile(
        stats::Outcomes::kFailed,
        {.lower = stats::Outcomes::kFailed, .upper = stats::Outcomes::kFailed});
  }
  if (latency_ns.count() == 1) {
    return {.value = latency_ns.mean(), .log_error = kUnknownError};
  }
  return OfValue(latency_ns.mean(), ErrorOfMean(latency_ns, blocks));
}

Estimate MeasureLatency(const Metric& metric, const RpcMeasurements& rpc,
                        LatencyKind kind) {
  const stats::Outcomes& outcomes = rpc.latency(kind);
  const std::vector<stats::Outcomes> blocks = LatencyBlocks(rpc.series, kind);
  Estimate estimate;
  if (metric.kind == Metric::Kind::kMean) {
    estimate = OfMean(outcomes, blocks);
  } else {
    const Percentile percentile =
        EstimatePercentile(outcomes, blocks, metric.percent);
    estimate = OfPercentile(percentile.value_ns, percentile.interval);
  }
  if (blocks.empty()) estimate = OfIndependent(estimate);
  estimate.failed_share = outcomes.failed_share();
  estimate.has_grown = HasGrown(blocks);
  return estimate;
}

// Times within requests: of messages, of attempts.
struct PartTimes {
  stats::Outcomes outcomes;
  // How many of them are independent of each other: the interval is that of as
  // many.
  uint64_t independent_count = 0;
};

PartTimes AttemptTimesOf(const Metric& metric, const RpcMeasurements& rpc) {
  const PolicyStatistics attempts = rpc.attempts.value_or(PolicyStatistics());
  const bool is_quorum = metric.kind == Metric::Kind::kQuorum;
  const stats::Outcomes outcomes = {
      .latency_ns = results::HistogramOf(
          is_quorum ? attempts.quorum_time_ns() : attempts.attempt_time_ns()),
      .failed_count =
          static_cast<uint64_t>(is_quorum ? attempts.quorum_failed_count()
                                          : attempts.failed_attempt_count())};
  return {.outcomes = outcomes,
          .independent_count =
              is_quorum ? outcomes.count()
                        : static_cast<uint64_t>(attempts.request_count())};
}

const Histogram& TimesOfMessages(const Metric& metric,
                                 const StreamStatistics& streams) {
  switch (metric.kind) {
    case Metric::Kind::kGap:
      return streams.gap_ns();
    case Metric::Kind::kRoundTrip:
      return streams.round_trip_ns();
    default:
      return streams.first_message_ns();
  }
}

PartTimes MessageTimesOf(const Metric& metric, const RpcMeasurements& rpc) {
  const StreamStatistics streams = rpc.streams.value_or(StreamStatistics());
  const uint64_t failed_streams = rpc.latency().failed_count;
  const stats::LogHistogram times_ns =
      results::HistogramOf(TimesOfMessages(metric, streams));
  const double per_stream =
      times_ns.count() == 0 || streams.stream_count() == 0
          ? 1
          : static_cast<double>(times_ns.count()) /
                static_cast<double>(streams.stream_count());
  auto failed_count = static_cast<uint64_t>(
      std::ceil(static_cast<double>(failed_streams) * per_stream));
  // A stalled echo has many more than a stream that succeeds, or none did.
  if (metric.kind == Metric::Kind::kRoundTrip) {
    failed_count = std::max(
        failed_count, static_cast<uint64_t>(streams.unanswered_messages()));
  }
  return {.outcomes = {.latency_ns = times_ns, .failed_count = failed_count},
          .independent_count =
              static_cast<uint64_t>(streams.stream_count()) + failed_streams};
}

absl::StatusOr<Estimate> MeasurePart(const Metric& metric,
                                     const RpcMeasurements& rpc) {
  const bool is_of_stream = stats::IsOfStream(metric);
  const PartTimes part =
      is_of_stream ? MessageTimesOf(metric, rpc) : AttemptTimesOf(metric, rpc);
  const stats::Outcomes& outcomes = part.outcomes;
  if (outcomes.count() == 0) {
    return absl::NotFoundError(
        absl::StrCat("the RPC \"", rpc.name, "\" has no time that ",
                     stats::MetricName(metric), " is about"));
  }
  const double quantile = metric.percent / 100;
  const auto count = static_cast<int64_t>(
      std::clamp<uint64_t>(part.independent_count, 1, outcomes.count()));
  const stats::RankInterval ranks =
      stats::OrderStatisticRanks(count, quantile, kReportConfidence);
  const auto at_rank = [&](int64_t rank) {
    return outcomes.ValueAtQuantile(static_cast<double>(rank) /
                                    static_cast<double>(count));
  };
  stats::QuantileInterval interval;
  if (ranks.lower >= 1) interval.lower = at_rank(ranks.lower - 1);
  if (ranks.upper <= count) interval.upper = at_rank(ranks.upper);
  Estimate estimate = OfIndependent(OfPercentile(
      std::max<int64_t>(1, outcomes.ValueAtQuantile(quantile)), interval));
  estimate.failed_share = outcomes.failed_share();
  estimate.has_grown =
      is_of_stream && HasGrown(LatencyBlocks(rpc.series, rpc.latency_kind()));
  return estimate;
}

// ---- Shares, rates and attempts ---------------------------------------------

// Which share `amount` is of `count`, with the exact interval, which holds for
// few, too. Of blocks of consecutive requests, if there are any, their spread
// tells by how much those that come together count for fewer, and their number
// how well that is known (stats/share_interval.h).
Estimate OfShare(double amount, double count,
                 absl::Span<const stats::BlockAmount> blocks) {
  const stats::CountedShare counted = {.amount = amount, .count = count};
  const stats::CountedShare effective =
      stats::EffectiveShare(counted, blocks, kReportConfidence);
  const stats::Interval interval =
      stats::IntervalOfShare(effective, (1 - kReportConfidence) / 2);
  return {.value = counted.share(),
          .lower = interval.lower,
          .upper = interval.upper,
          .log_error = 1 / std::sqrt(effective.amount + 1),
          .is_of_independent = blocks.size() < 2};
}

// Whether the series says how many requests were due, and when.
bool IsOfferedOverTime(const RpcMeasurements& rpc) {
  return rpc.offered && rpc.offered->offered_count() > 0 &&
         std::any_of(
             rpc.series.intervals.begin(), rpc.series.intervals.end(),
             [](const auto& interval) { return interval.second.offered > 0; });
}

// Requests of an interval among those that were due, because a plan may vary
// over time (cycles, bursts), which is no error. Closed loops have no such
// plan: theirs are requests per second.
stats::BlockAmount RateOf(int64_t requests, const IntervalTotals& totals,
                          const RpcMeasurements& rpc, bool is_offered) {
  return {static_cast<double>(requests),
          is_offered ? static_cast<double>(totals.offered)
                     : base::ToSeconds(rpc.series.interval_ns)};
}

// The part of an interval that a metric is about. `is_offered` is
// IsOfferedOverTime(rpc).
stats::BlockAmount AmountOf(const Metric& metric, const IntervalTotals& totals,
                            const RpcMeasurements& rpc, bool is_offered) {
  const auto attempts = static_cast<double>(totals.attempts);
  switch (metric.kind) {
    case Metric::Kind::kAmplification:
      return {attempts, static_cast<double>(totals.sent)};
    case Metric::Kind::kWasted:
      return {std::max(0.0, attempts - static_cast<double>(totals.succeeded)),
              attempts};
    case Metric::Kind::kRate:
      return RateOf(totals.succeeded, totals, rpc, is_offered);
    default:
      return RateOf(
          GoodputOf(totals.succeeded, totals.response_time_ns, rpc.deadline_ns),
          totals, rpc, is_offered);
  }
}

// At most kMaxBlocks of consecutive intervals without warm-up; none if there
// are fewer than two. Of amounts per second, only intervals that traffic covers
// as a whole.
std::vector<stats::BlockAmount> BlocksOf(const Metric& metric,
                                         const RpcMeasurements& rpc) {
  const bool is_per_second =
      stats::UnitOf(metric) == stats::MetricUnit::kPerSecond;
  std::vector<stats::BlockAmount> intervals;
  const bool is_offered = IsOfferedOverTime(rpc);
  const auto add = [&](const IntervalTotals& totals) {
    const stats::BlockAmount amount = AmountOf(metric, totals, rpc, is_offered);
    // Late requests end also where none were due.
    if (amount.count > 0 || amount.amount > 0) intervals.push_back(amount);
  };
  const auto& all = rpc.series.intervals;
  for (auto each = all.begin(); each != all.end(); ++each) {
    // A series has no intervals in which nothing happened. Those before the
    // last one are whole, even if it is not.
    if (each != all.begin() && std::prev(each)->second.warmup == 0) {
      for (int64_t gap = std::prev(each)->first + 1; gap < each->first; ++gap) {
        add({});
      }
    }
    const bool is_whole = each != all.begin() && std::next(each) != all.end();
    if (each->second.warmup > 0) continue;
    if (is_whole || !is_per_second) add(each->second);
  }
  if (intervals.size() < 2 || stats::SumOf(intervals).count == 0) return {};
  const size_t per_block =
      (intervals.size() + stats::kMaxBlocks - 1) / stats::kMaxBlocks;
  std::vector<stats::BlockAmount> blocks;
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (i % per_block == 0) blocks.push_back({0, 0});
    blocks.back().amount += intervals[i].amount;
    blocks.back().count += intervals[i].count;
  }
  return blocks;
}

// The relative error of the blocks' own ratio, which need not be in the unit of
// the value. Assumed if nothing but what is outside of the blocks has any.
double ErrorOfBlocks(const std::vector<stats::BlockAmount>& blocks) {
  const auto [amount, count] = stats::SumOf(blocks);
  return amount > 0 ? RelativeErrorOf(blocks, amount / count) : kUnknownError;
}

// The value with the error of the blocks, which is at least `least_error`.
Estimate OfRatio(double value, double least_error,
                 const std::vector<stats::BlockAmount>& blocks) {
  const double error = blocks.empty() || value <= 0
                           ? least_error
                           : std::max(least_error, ErrorOfBlocks(blocks));
  Estimate estimate = OfValue(value, error);
  estimate.is_of_independent = blocks.empty();
  return estimate;
}

// The error, relative to the rate, of a number of requests that were sent as
// evenly as can be: those in flight when the measured time began and ended
// count or do not.
double ErrorOfBounds(const RpcMeasurements& rpc, double per_second,
                     double count) {
  if (count == 0) return 1;
  const double in_flight =
      per_second * rpc.latency().latency_ns.mean() / base::kNsPerSecond;
  return (1 + in_flight) / (count + 1) / kErrorsPerInterval;
}

// Without two intervals, requests are taken to be independent. `timed_count` is
// of the requests that tell how long the duration was: if it is one, that is
// how long the request took, which says nothing of how many there are.
Estimate MeasurePerSecond(const Metric& metric, const RpcMeasurements& rpc,
                          int64_t requests, int64_t duration_ns,
                          uint64_t timed_count) {
  const auto count = static_cast<double>(requests);
  const double per_second = PerSecond(count, duration_ns);
  const std::vector<stats::BlockAmount> blocks = BlocksOf(metric, rpc);
  Estimate estimate =
      OfRatio(per_second,
              blocks.empty() ? 1 / std::sqrt(count + 1)
                             : ErrorOfBounds(rpc, per_second, count),
              blocks);
  if (timed_count == 1) estimate.lower = estimate.upper = std::nullopt;
  return estimate;
}

Estimate MeasureRate(const Metric& metric, const RpcMeasurements& rpc,
                     LatencyKind kind) {
  const results::RpcCounts& counts = rpc.totals.counts;
  Estimate estimate = MeasurePerSecond(
      metric, rpc, counts.succeeded_count, counts.duration_ns(),
      static_cast<uint64_t>(counts.succeeded_count));
  estimate.failed_share = rpc.latency(kind).failed_share();
  return estimate;
}

Estimate MeasureFailures(const RpcMeasurements& rpc, LatencyKind kind) {
  std::vector<stats::BlockAmount> failures;
  for (const stats::Outcomes& block : LatencyBlocks(rpc.series, kind)) {
    failures.push_back({static_cast<double>(block.failed_count),
                        static_cast<double>(block.count())});
  }
  const stats::Outcomes& outcomes = rpc.latency(kind);
  return OfShare(static_cast<double>(outcomes.failed_count),
                 static_cast<double>(outcomes.count()), failures);
}

// Requests depend on each other, most of all in an overload, but the interval
// is never narrower than that of independent ones, whose error is that of a
// Poisson number of further attempts.
Estimate OfAmplification(const Metric& metric, const RpcMeasurements& rpc) {
  const PolicyStatistics& attempts = *rpc.attempts;
  const auto further = static_cast<double>(std::max<int64_t>(
      0, attempts.attempt_count() - attempts.request_count()));
  const double error =
      std::sqrt(further + 1) /
      static_cast<double>(std::max<int64_t>(1, attempts.attempt_count()));
  return OfRatio(*Amplification(attempts), error, BlocksOf(metric, rpc));
}

absl::StatusOr<Estimate> MeasureAttempts(const Metric& metric,
                                         const RpcMeasurements& rpc) {
  if (!rpc.attempts) {
    return absl::NotFoundError(
        absl::StrCat("the RPC \"", rpc.name,
                     "\" has no policy, so nothing counted its "
                     "attempts"));
  }
  if (!Amplification(*rpc.attempts)) return NothingMeasured(rpc);
  if (rpc.attempts->attempt_count() == 0) {
    return absl::NotFoundError(
        absl::StrCat("no request of the RPC \"", rpc.name,
                     "\" was attempted: its policy refused all of them"));
  }
  if (metric.kind == Metric::Kind::kAmplification) {
    return OfAmplification(metric, rpc);
  }
  const auto count = static_cast<double>(rpc.attempts->attempt_count());
  const double share =
      *WastedShare(*rpc.attempts, rpc.totals.counts.succeeded_count);
  return OfShare(share * count, count, BlocksOf(metric, rpc));
}

}  // namespace

absl::StatusOr<Estimate> Measure(const Metric& metric,
                                 const RpcMeasurements& rpc, LatencyKind kind) {
  using Kind = Metric::Kind;
  switch (metric.kind) {
    case Kind::kAmplification:
    case Kind::kWasted:
      return MeasureAttempts(metric, rpc);
    case Kind::kAttempt:
    case Kind::kQuorum:
    case Kind::kFirstMessage:
    case Kind::kGap:
    case Kind::kRoundTrip:
      return MeasurePart(metric, rpc);
    default:
      break;
  }
  if (rpc.latency(kind).count() == 0) return NothingMeasured(rpc);
  switch (metric.kind) {
    case Kind::kPercentile:
    case Kind::kMean:
      return MeasureLatency(metric, rpc, kind);
    case Kind::kRate:
      return MeasureRate(metric, rpc, kind);
    case Kind::kGoodput:
      return MeasurePerSecond(metric, rpc, rpc.goodput_count(), rpc.measured_ns,
                              rpc.latency(kind).count());
    case Kind::kFailures:
      return MeasureFailures(rpc, kind);
    default:
      return absl::NotFoundError(absl::StrCat(
          stats::MetricName(metric), " is not measured of single RPCs"));
  }
}

bool IsSupported(const Metric& metric, const RpcMeasurements& rpc,
                 LatencyKind kind) {
  return !stats::IsLatency(metric) ||
         stats::SupportsQuantile(rpc.latency(kind).count(),
                                 metric.percent / 100);
}

// ---- The CPU time of hosts --------------------------------------------------

namespace {

// Whether most of the sample is of the time in which RPCs were measured.
bool IsMeasured(const ResourceSample& sample,
                const results::RpcCounts& measured) {
  const int64_t middle_ns = base::SaturatingSubtract(sample.end_timestamp_ns(),
                                                     sample.duration_ns() / 2);
  return middle_ns >= measured.first_start_timestamp_ns &&
         middle_ns <= measured.last_end_timestamp_ns;
}

// The CPU time of a host: how much of it was busy in each sample of the
// measured time or, if that has none, of all.
std::vector<stats::BlockAmount> BusyTimes(const NodeResources& node,
                                          const results::RpcCounts& measured) {
  // All CPUs of the host, even if the node manager may use only some of them.
  const int cpu_count = std::max(1, results::CpuCountOf(node.host()));
  const bool any_is_measured = std::any_of(
      node.samples().begin(), node.samples().end(),
      [&](const ResourceSample& each) { return IsMeasured(each, measured); });
  std::vector<stats::BlockAmount> times;
  for (const ResourceSample& sample : node.samples()) {
    if (sample.duration_ns() <= 0) continue;
    if (any_is_measured && !IsMeasured(sample, measured)) continue;
    times.push_back({static_cast<double>(sample.host_cpu_ns()),
                     static_cast<double>(sample.duration_ns()) * cpu_count});
  }
  return times;
}

// The mean share of a host's CPU time that was busy.
std::optional<double> BusyShare(const std::vector<stats::BlockAmount>& times) {
  if (times.empty()) return std::nullopt;
  const auto [busy, available] = stats::SumOf(times);
  return busy / available;
}

}  // namespace

absl::StatusOr<Estimate> MeasureHostCpu(const TestResult& result,
                                        const TestTotals& totals) {
  std::vector<stats::BlockAmount> busiest;
  for (const auto& [alias, node] :
       result.resource_usage_logs().node_resources()) {
    std::vector<stats::BlockAmount> times = BusyTimes(node, totals.all);
    if (BusyShare(times) > BusyShare(busiest)) busiest = std::move(times);
  }
  const std::optional<double> share = BusyShare(busiest);
  if (!share) {
    return absl::NotFoundError("the nodes have not recorded their CPU usage");
  }
  const double error = busiest.size() < stats::kMinBlocks || *share <= 0
                           ? kUnknownError
                           : RelativeErrorOf(busiest, *share);
  Estimate estimate = OfValue(*share, error);
  estimate.is_of_independent = busiest.size() < stats::kMaxBlocks;
  // Clocks that differ may make it slightly more than all of the time.
  estimate.upper = std::min(*estimate.upper, std::max(1.0, *share));
  return estimate;
}

// ---- Growth -----------------------------------------------------------------

bool HasGrown(absl::Span<const stats::Outcomes> blocks) {
  std::vector<double> means;
  for (const stats::Outcomes& block : blocks) {
    if (block.latency_ns.count() > 0) means.push_back(block.latency_ns.mean());
  }
  return means.size() >= stats::kMinBlocks && stats::HasRisen(means);
}

// ---- Texts ------------------------------------------------------------------

namespace {

// What fails where the time of a metric is infinite.
absl::string_view MeasuredThings(const Metric& metric) {
  if (stats::IsOfStream(metric)) return "messages";
  return metric.kind == Metric::Kind::kAttempt  ? "attempts"
         : metric.kind == Metric::Kind::kQuorum ? "iterations"
                                                : "RPCs";
}

}  // namespace

std::string ValueText(stats::MetricUnit unit, double value) {
  switch (unit) {
    case stats::MetricUnit::kNs:
      return base::PreciseDuration(value);
    case stats::MetricUnit::kPerSecond:
      return absl::StrFormat("%.6g/s", value);
    case stats::MetricUnit::kRatio:
    case stats::MetricUnit::kNumber:
      return absl::StrFormat("%.6g", value);
    case stats::MetricUnit::kBytes:
      return base::HumanBytes(value);
    case stats::MetricUnit::kShare:
      return absl::StrFormat("%.4g %%", 100 * value);
  }
  return "";
}

std::string EstimateText(const Metric& metric, const Estimate& estimate) {
  const std::string name = stats::MetricName(metric);
  if (std::isinf(estimate.value)) {
    return absl::StrFormat("%s failed (%.3g %% of the %s failed)", name,
                           100 * estimate.failed_share, MeasuredThings(metric));
  }
  std::string text =
      absl::StrCat(name, " ", ValueText(stats::UnitOf(metric), estimate.value));
  if (estimate.failed_share > 0) {
    absl::StrAppendFormat(&text, ", %.3g %% failed",
                          100 * estimate.failed_share);
  }
  return text;
}

}  // namespace distbench::report
