// Records of a replay trace, with defaults filled in.

#ifndef DISTBENCH_CONFIG_SYNTAX_REPLAY_RECORDS_H_
#define DISTBENCH_CONFIG_SYNTAX_REPLAY_RECORDS_H_

#include <vector>

#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Returns the record at `index`, with the trace's defaults for missing fields.
// Distances in the record replace the default distances.
RpcReplayTraceRecord CompleteRecord(const RpcReplayTrace& trace, int index);

// Whether the record's time is relative to earlier records.
bool WaitsForRecords(const RpcReplayTraceRecord& complete_record);

// Positions of the records for which the record at `index` waits; negative
// where a distance reaches before the first record. Without distances, it waits
// for the previous record, so the first record waits for none.
std::vector<int> PriorRecords(const RpcReplayTraceRecord& complete_record,
                              int index);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_SYNTAX_REPLAY_RECORDS_H_
