#include "distbench/report/objectives/judge_attempts_and_streams.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "distbench/base/time_units.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/objectives/judge_objective.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/outcomes.h"
#include "distbench/stats/quantile_interval.h"

namespace distbench::report {
namespace {

// Times that are not those of requests: of messages, of attempts.
struct PartTimes {
  config::PartTime time;
  absl::string_view values;         // what has such times: "messages"
  const stats::Outcomes& outcomes;  // at least one
  // How many of them are independent of each other, at least 1: the interval is
  // that of as many.
  int64_t independent_count = 1;
};

// Judges the percentile. Because it has no series over time, its relative error
// is at least a quarter.
ObjectiveOutcome JudgePart(const config::Objective& objective,
                           const PartTimes& part) {
  const double quantile = part.time.percent / 100;
  const int64_t count = part.independent_count;
  const stats::RankInterval ranks =
      stats::OrderStatisticRanks(count, quantile, kReportConfidence);
  const auto at_rank = [&](int64_t rank) {
    return part.outcomes.ValueAtQuantile(static_cast<double>(rank) /
                                         static_cast<double>(count));
  };
  JudgedPercentile percentile = {
      .name = config::PartTimeName(part.time),
      .values = part.values,
      .outcomes = part.outcomes,
      .value_ns =
          std::max<int64_t>(1, part.outcomes.ValueAtQuantile(quantile))};
  if (ranks.lower >= 1) percentile.interval.lower = at_rank(ranks.lower - 1);
  if (ranks.upper <= count) percentile.interval.upper = at_rank(ranks.upper);
  ObjectiveOutcome outcome =
      OfIndependent(JudgePercentile(objective, percentile));
  outcome.service_excess = outcome.excess;
  return outcome;
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
stats::BlockAmount AmountOf(const stats::Metric& metric,
                            const IntervalTotals& totals,
                            const RpcMeasurements& rpc, bool is_offered) {
  const auto attempts = static_cast<double>(totals.attempts);
  switch (metric.kind) {
    case stats::Metric::Kind::kAmplification:
      return {attempts, static_cast<double>(totals.sent)};
    case stats::Metric::Kind::kWasted:
      return {std::max(0.0, attempts - static_cast<double>(totals.succeeded)),
              attempts};
    case stats::Metric::Kind::kRate:
      return RateOf(totals.succeeded, totals, rpc, is_offered);
    default:
      return RateOf(
          GoodputOf(totals.succeeded, totals.response_time_ns, rpc.deadline_ns),
          totals, rpc, is_offered);
  }
}

// Whether the blocks of a metric are amounts per second, which only intervals
// tell that traffic covers as a whole.
bool IsPerSecond(const stats::Metric& metric) {
  return metric.kind == stats::Metric::Kind::kRate ||
         metric.kind == stats::Metric::Kind::kGoodput;
}

// At most kMaxBlocks of consecutive intervals without warm-up; none if there
// are fewer than two.
std::vector<stats::BlockAmount> BlocksOf(const stats::Metric& metric,
                                         const RpcMeasurements& rpc) {
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
    if (is_whole || !IsPerSecond(metric)) add(each->second);
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
ObjectiveOutcome JudgeRatio(const config::Objective& objective, double value,
                            double least_error,
                            const std::vector<stats::BlockAmount>& blocks,
                            std::string measured) {
  const double error = blocks.empty() || value <= 0
                           ? least_error
                           : std::max(least_error, ErrorOfBlocks(blocks));
  ObjectiveOutcome outcome =
      JudgeValue(objective, value, error, std::move(measured));
  outcome.is_of_independent = blocks.empty();
  return outcome;
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

// The error of independent requests is that of a Poisson number of further
// attempts.
ObjectiveOutcome JudgeAmplification(const config::Objective& objective,
                                    const stats::Metric& metric,
                                    const RpcMeasurements& rpc) {
  const PolicyStatistics& attempts = *rpc.attempts;
  const double value = *Amplification(attempts);
  const auto further = static_cast<double>(std::max<int64_t>(
      0, attempts.attempt_count() - attempts.request_count()));
  const double error =
      std::sqrt(further + 1) /
      static_cast<double>(std::max<int64_t>(1, attempts.attempt_count()));
  return JudgeRatio(objective, value, error, BlocksOf(metric, rpc),
                    absl::StrFormat("amplification %.4g", value));
}

ObjectiveOutcome JudgeWasted(const config::Objective& objective,
                             const stats::Metric& metric,
                             const RpcMeasurements& rpc) {
  const auto count = static_cast<double>(rpc.attempts->attempt_count());
  const double share =
      *WastedShare(*rpc.attempts, rpc.totals.counts.succeeded_count);
  return JudgeShare(objective, share * count, count, BlocksOf(metric, rpc),
                    absl::StrFormat("wasted %.3g%%", 100 * share));
}

absl::Status NothingMeasured(const RpcMeasurements& rpc) {
  return absl::NotFoundError(
      absl::StrCat("no RPC \"", rpc.name, "\" ended in the measured time"));
}

}  // namespace

ObjectiveOutcome JudgePerSecond(const config::Objective& objective,
                                const RpcMeasurements& rpc,
                                const MeasuredRate& rate,
                                std::string measured) {
  const std::vector<stats::BlockAmount> blocks = BlocksOf(rate.metric, rpc);
  const double error = blocks.empty()
                           ? 1 / std::sqrt(rate.count + 1)
                           : ErrorOfBounds(rpc, rate.per_second, rate.count);
  return JudgeRatio(objective, rate.per_second, error, blocks,
                    std::move(measured));
}

bool IsOfAttempts(const stats::Metric& metric) {
  return metric.kind == stats::Metric::Kind::kGoodput ||
         metric.kind == stats::Metric::Kind::kAmplification ||
         metric.kind == stats::Metric::Kind::kWasted;
}

absl::StatusOr<ObjectiveOutcome> JudgeAttempts(
    const config::Objective& objective, const stats::Metric& metric,
    const RpcMeasurements& rpc) {
  if (metric.kind == stats::Metric::Kind::kGoodput) {
    if (rpc.latency().count() == 0) return NothingMeasured(rpc);
    return JudgePerSecond(
        objective, rpc,
        {.metric = metric,
         .per_second = rpc.goodput_per_second(),
         .count = static_cast<double>(rpc.goodput_count())},
        absl::StrFormat("goodput %.6g", rpc.goodput_per_second()));
  }
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
  return metric.kind == stats::Metric::Kind::kWasted
             ? JudgeWasted(objective, metric, rpc)
             : JudgeAmplification(objective, metric, rpc);
}

absl::StatusOr<ObjectiveOutcome> JudgeAttemptTime(
    const config::Objective& objective, const RpcMeasurements& rpc) {
  const auto& time = std::get<config::PartTime>(objective.metric);
  const PolicyStatistics attempts = rpc.attempts.value_or(PolicyStatistics());
  const bool is_quorum = time.kind == config::PartTime::Kind::kQuorum;
  const stats::Outcomes outcomes = {
      .latency_ns = results::HistogramOf(
          is_quorum ? attempts.quorum_time_ns() : attempts.attempt_time_ns()),
      .failed_count =
          static_cast<uint64_t>(is_quorum ? attempts.quorum_failed_count()
                                          : attempts.failed_attempt_count())};
  if (outcomes.count() == 0) {
    return absl::NotFoundError(absl::StrCat(
        "the RPC \"", rpc.name, "\" has no time that the objective \"",
        objective.text, "\" is about"));
  }
  const uint64_t independent =
      is_quorum ? outcomes.count()
                : std::min(outcomes.count(),
                           static_cast<uint64_t>(attempts.request_count()));
  return JudgePart(objective, {.time = time,
                               .values = is_quorum ? "iterations" : "attempts",
                               .outcomes = outcomes,
                               .independent_count = static_cast<int64_t>(
                                   std::max<uint64_t>(1, independent))});
}

namespace {

const Histogram& TimesOf(config::PartTime::Kind kind,
                         const StreamStatistics& streams) {
  switch (kind) {
    case config::PartTime::Kind::kGap:
      return streams.gap_ns();
    case config::PartTime::Kind::kRoundTrip:
      return streams.round_trip_ns();
    default:
      return streams.first_message_ns();
  }
}

stats::Outcomes MessagesOf(const stats::LogHistogram& times_ns, int64_t streams,
                           uint64_t failed_streams) {
  const double per_stream = times_ns.count() == 0 || streams == 0
                                ? 1
                                : static_cast<double>(times_ns.count()) /
                                      static_cast<double>(streams);
  return {.latency_ns = times_ns,
          .failed_count = static_cast<uint64_t>(
              std::ceil(static_cast<double>(failed_streams) * per_stream))};
}

}  // namespace

absl::StatusOr<ObjectiveOutcome> JudgeStreamTime(
    const config::Objective& objective, const RpcMeasurements& rpc) {
  const auto& time = std::get<config::PartTime>(objective.metric);
  const StreamStatistics streams = rpc.streams.value_or(StreamStatistics());
  const uint64_t failed_streams = rpc.latency().failed_count;
  const stats::Outcomes messages =
      MessagesOf(results::HistogramOf(TimesOf(time.kind, streams)),
                 streams.stream_count(), failed_streams);
  if (messages.count() == 0) {
    return absl::NotFoundError(
        absl::StrCat("no message of the RPC \"", rpc.name,
                     "\" has the time that the objective \"", objective.text,
                     "\" is about"));
  }
  const auto count = static_cast<int64_t>(
      std::min(static_cast<uint64_t>(streams.stream_count()) + failed_streams,
               messages.count()));
  return JudgePart(objective, {.time = time,
                               .values = "messages",
                               .outcomes = messages,
                               .independent_count = count});
}

}  // namespace distbench::report
