#include "distbench/report/objectives/judge_stream_time.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/results/stream_totals.h"
#include "distbench/stats/outcomes.h"
#include "distbench/stats/quantile_interval.h"

namespace distbench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The standard errors from an estimate to a bound of its interval.
constexpr double kErrorsToBound = 1.96;

// The least relative error of what has no series over time.
constexpr double kLeastError = 0.25;

const LogHistogram& TimesOf(StreamTime::Kind kind, const StreamTotals& totals) {
  switch (kind) {
    case StreamTime::Kind::kGap:
      return totals.gap_ns;
    case StreamTime::Kind::kRoundTrip:
      return totals.round_trip_ns;
    case StreamTime::Kind::kFirstMessage:
      break;
  }
  return totals.first_message_ns;
}

Outcomes MessagesOf(const LogHistogram& times_ns, int64_t streams,
                    uint64_t failed_streams) {
  const double per_stream = times_ns.count() == 0 || streams == 0
                                ? 1
                                : static_cast<double>(times_ns.count()) /
                                      static_cast<double>(streams);
  return {.latency_ns = times_ns,
          .failed_count = static_cast<uint64_t>(
              std::ceil(static_cast<double>(failed_streams) * per_stream))};
}

double NsAt(const Outcomes& messages, double quantile) {
  const int64_t value_ns = messages.ValueAtQuantile(quantile);
  return value_ns == Outcomes::kFailed ? kInfinity
                                       : static_cast<double>(value_ns);
}

double ErrorOf(const ObjectiveOutcome& outcome) {
  if (!outcome.lower || !outcome.upper || *outcome.lower <= 0) {
    return kLeastError;
  }
  return std::max(kLeastError, std::log(*outcome.upper / *outcome.lower) /
                                   (2 * kErrorsToBound));
}

Excess ExcessOver(const Objective& objective, double value_ns,
                  const ObjectiveOutcome& outcome) {
  if (std::isinf(value_ns)) return {.estimate = kInfinity, .error = 0};
  const double distance = std::log(std::max(value_ns, 1.0) / objective.limit);
  return {.estimate = objective.is_upper_limit ? distance : -distance,
          .error = ErrorOf(outcome)};
}

std::string MeasuredText(const std::string& name, double value_ns,
                         const Outcomes& messages) {
  const std::string failed =
      absl::StrFormat("%.3g%%", 100 * messages.failed_share());
  if (std::isinf(value_ns)) {
    return absl::StrCat(name, " failed (", failed, " of the messages failed)");
  }
  return absl::StrCat(
      name, absl::StrFormat(" %.3f ms", value_ns / 1e6),
      messages.failed_count == 0 ? "" : absl::StrCat(", ", failed, " failed"));
}

}  // namespace

absl::StatusOr<ObjectiveOutcome> JudgeStreamTime(const Objective& objective,
                                                 const RpcMeasurements& rpc) {
  const auto& time = std::get<StreamTime>(objective.metric);
  const StreamTotals totals = rpc.streams.value_or(StreamTotals());
  const uint64_t failed_streams = rpc.latency().failed_count;
  const Outcomes messages = MessagesOf(TimesOf(time.kind, totals),
                                       totals.stream_count, failed_streams);
  if (messages.count() == 0) {
    return absl::NotFoundError(
        absl::StrCat("no message of the RPC \"", rpc.name,
                     "\" has the time that the objective \"", objective.text,
                     "\" is about"));
  }
  const double quantile = time.percent / 100;
  const double value_ns = NsAt(messages, quantile);
  const auto count = static_cast<int64_t>(
      std::min(static_cast<uint64_t>(totals.stream_count) + failed_streams,
               messages.count()));
  const RankInterval ranks =
      OrderStatisticRanks(count, quantile, kReportConfidence);
  const auto at_rank = [&](int64_t rank) {
    return NsAt(messages,
                static_cast<double>(rank) / static_cast<double>(count));
  };
  ObjectiveOutcome outcome;
  if (ranks.lower >= 1) outcome.lower = at_rank(ranks.lower - 1);
  if (ranks.upper <= count) outcome.upper = at_rank(ranks.upper);
  outcome.excess = ExcessOver(objective, value_ns, outcome);
  outcome.service_excess = outcome.excess;
  outcome.measured = MeasuredText(StreamTimeName(time), value_ns, messages);
  return outcome;
}

}  // namespace distbench
