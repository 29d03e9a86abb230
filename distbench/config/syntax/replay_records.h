// The records of a replay trace, completed.

#ifndef DISTBENCH_CONFIG_SYNTAX_REPLAY_RECORDS_H_
#define DISTBENCH_CONFIG_SYNTAX_REPLAY_RECORDS_H_

#include <vector>

#include "proto/traffic_config.pb.h"

namespace distbench {

// The record at index, with the trace's defaults for fields that it leaves out.
// Distances that the record gives replace the default ones.
RpcReplayTraceRecord CompleteRecord(const RpcReplayTrace& trace, int index);

// Whether the record's time counts from earlier records.
bool WaitsForRecords(const RpcReplayTraceRecord& complete_record);

// Positions of the records that the record at index waits for; below 0 where a
// distance reaches beyond the first. Without distances it is the one just
// before, so none for the first record.
std::vector<int> PriorRecords(const RpcReplayTraceRecord& complete_record,
                              int index);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_SYNTAX_REPLAY_RECORDS_H_
