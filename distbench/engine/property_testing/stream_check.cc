#include "distbench/engine/property_testing/stream_check.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "distbench/results/rpc_totals.h"

namespace distbench::engine {
namespace {

// Drawn numbers are at least 1.
bool HasMessages(int64_t messages, int64_t streams,
                 const config::StreamSidePlan& side) {
  return side.count_distribution == config::kNone
             ? messages == streams * side.count
             : messages >= streams;
}

}  // namespace

std::vector<std::string> CheckMessages(const StreamStatistics& statistics,
                                       const config::StreamPlan& plan) {
  results::StreamTotals totals;
  if (const absl::Status status = totals.Add(statistics); !status.ok()) {
    return {std::string(status.message())};
  }
  std::vector<std::string> problems;
  const int64_t streams = totals.stream_count;
  const bool has_responses =
      plan.start == config::StreamPlan::Start::kEcho
          ? totals.response_messages == totals.request_messages
          : HasMessages(totals.response_messages, streams, plan.server);
  if (!has_responses ||
      !HasMessages(totals.request_messages, streams, plan.client)) {
    problems.push_back(absl::StrCat(streams, " streams have ",
                                    totals.request_messages, " requests and ",
                                    totals.response_messages, " responses"));
  }
  for (const stats::LogHistogram* per_stream :
       {&totals.first_message_ns, &totals.client_blocked_ns,
        &totals.server_blocked_ns}) {
    if (static_cast<int64_t>(per_stream->count()) == streams) continue;
    problems.push_back(absl::StrCat("of ", streams, " streams, ",
                                    per_stream->count(), " were measured"));
  }
  return problems;
}

}  // namespace distbench::engine
