#include "distbench/report/objectives/judge_stream_time.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/report/objectives/judge_times.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/outcomes.h"

namespace distbench::report {
namespace {

const stats::LogHistogram& TimesOf(config::StreamTime::Kind kind,
                                   const results::StreamTotals& totals) {
  switch (kind) {
    case config::StreamTime::Kind::kGap:
      return totals.gap_ns;
    case config::StreamTime::Kind::kRoundTrip:
      return totals.round_trip_ns;
    case config::StreamTime::Kind::kFirstMessage:
      break;
  }
  return totals.first_message_ns;
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
  const auto& time = std::get<config::StreamTime>(objective.metric);
  const results::StreamTotals totals =
      rpc.streams.value_or(results::StreamTotals());
  const uint64_t failed_streams = rpc.latency().failed_count;
  const stats::Outcomes messages = MessagesOf(
      TimesOf(time.kind, totals), totals.stream_count, failed_streams);
  if (messages.count() == 0) {
    return absl::NotFoundError(
        absl::StrCat("no message of the RPC \"", rpc.name,
                     "\" has the time that the objective \"", objective.text,
                     "\" is about"));
  }
  const auto count = static_cast<int64_t>(
      std::min(static_cast<uint64_t>(totals.stream_count) + failed_streams,
               messages.count()));
  return JudgeTimes(objective, {.name = config::StreamTimeName(time),
                                .values = "messages",
                                .percent = time.percent,
                                .outcomes = messages,
                                .independent_count = count});
}

}  // namespace distbench::report
