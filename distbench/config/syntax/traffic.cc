// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/syntax/traffic.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {
std::map<std::string, int64_t> MainActions(
    const DistributedSystemDescription& test) {
  // number of instances, by the name of their main list
  std::map<std::string, int64_t> users;
  for (const ServiceSpec& service : test.services()) {
    users[service.name()] = service.count();
  }
  std::map<std::string, int64_t> actions;
  for (const ActionList& list : test.action_lists()) {
    const auto found = users.find(list.name());
    if (found == users.end()) continue;
    for (const std::string& name : list.action_names()) {
      actions[name] += found->second;
    }
  }
  return actions;
}

bool IsOpenLoop(const Action& action) {
  // A canonical test has a rate only if the rate is invalid, and arrivals alone
  // only if they lack it, which should not cause problems of closed loops as
  // well.
  return action.iterations().has_open_loop_interval_ns() ||
         action.iterations().has_rate() || action.iterations().has_arrivals();
}

bool IsClosedLoop(const Action& action) {
  return action.has_iterations() && !IsOpenLoop(action);
}

absl::StatusOr<int64_t> TestTimeoutSeconds(
    const DistributedSystemDescription& test) {
  const auto it = test.attributes().find(kTestTimeoutAttribute);
  if (it == test.attributes().end()) return kDefaultTestTimeoutSeconds;
  int64_t seconds;
  if (!absl::SimpleAtoi(it->second, &seconds) || seconds < 1 ||
      seconds > kMaxTestTimeoutSeconds) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(it->second),
                     " is not a timeout; must be a whole number "
                     "of seconds from 1 to ",
                     kMaxTestTimeoutSeconds));
  }
  return seconds;
}

absl::Status TestTimedOut(absl::Duration timeout, absl::string_view where) {
  return absl::DeadlineExceededError(absl::StrCat(
      "the traffic did not end within the test_timeout of ",
      absl::FormatDuration(timeout), where,
      "; raise that attribute of the test, or end its loops earlier, by "
      "max_duration or max_iteration_count"));
}

RpcReplayTraceRecord CompleteRecord(const RpcReplayTrace& trace, int index) {
  const RpcReplayTraceRecord& record = trace.records(index);
  RpcReplayTraceRecord complete = trace.defaults();
  if (!record.prior_rpc_distances().empty()) {
    complete.clear_prior_rpc_distances();
  }
  complete.MergeFrom(record);
  return complete;
}

bool WaitsForRecords(const RpcReplayTraceRecord& complete_record) {
  return complete_record.timing_mode() ==
             RpcReplayTraceRecord::RELATIVE_TO_PRIOR_RPC_START ||
         complete_record.timing_mode() ==
             RpcReplayTraceRecord::RELATIVE_TO_PRIOR_RPC_END;
}

std::vector<int> PriorRecords(const RpcReplayTraceRecord& complete_record,
                              int index) {
  if (!WaitsForRecords(complete_record)) return {};
  std::vector<int> priors;
  for (const int distance : complete_record.prior_rpc_distances()) {
    // Computed in 64 bits, because the distance has not been validated.
    const int64_t prior = int64_t{index} - 1 - distance;
    priors.push_back(static_cast<int>(std::clamp<int64_t>(prior, -1, index)));
  }
  if (priors.empty() && index > 0) priors.push_back(index - 1);
  return priors;
}

}  // namespace distbench::config
