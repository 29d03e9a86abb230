// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A test's traffic: the actions of main lists, which start it, its time limit,
// and the records of replay traces, with defaults filled in.

#ifndef DISTBENCH_CONFIG_SYNTAX_TRAFFIC_H_
#define DISTBENCH_CONFIG_SYNTAX_TRAFFIC_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Maps each action of a main list to the number of instances that run it.
// Requires a canonical test; undefined names are harmless.
std::map<std::string, int64_t> MainActions(
    const DistributedSystemDescription& test);

// Whether the action is an open loop or a closed loop, respectively.
bool IsOpenLoop(const Action& action);
bool IsClosedLoop(const Action& action);

inline constexpr char kTestTimeoutAttribute[] = "test_timeout";
inline constexpr int64_t kDefaultTestTimeoutSeconds = 3600;
inline constexpr int64_t kMaxTestTimeoutSeconds = 1'000'000'000;

// The test's time limit in seconds, from its attribute, in [1,
// kMaxTestTimeoutSeconds]. INVALID_ARGUMENT says what is wrong with the
// attribute.
absl::StatusOr<int64_t> TestTimeoutSeconds(
    const DistributedSystemDescription& test);

// DEADLINE_EXCEEDED, for a test whose traffic had not ended at its time limit:
// what limits it, and what to do. `where` is empty, or says who goes on, as in
// " on node0".
absl::Status TestTimedOut(absl::Duration timeout, absl::string_view where);

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

#endif  // DISTBENCH_CONFIG_SYNTAX_TRAFFIC_H_
