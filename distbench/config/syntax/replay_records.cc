#include "distbench/config/syntax/replay_records.h"

#include <algorithm>
#include <cstdint>

namespace distbench::config {

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
