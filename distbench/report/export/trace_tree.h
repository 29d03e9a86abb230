// Assembles traced RPCs into the trees of RPCs that caused one another.

#ifndef DISTBENCH_REPORT_EXPORT_TRACE_TREE_H_
#define DISTBENCH_REPORT_EXPORT_TRACE_TREE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/base/saturating_add.h"
#include "proto/results.pb.h"

namespace distbench::report {

struct TracedRpc {
  // Pointers into the result.
  const RpcSample* sample = nullptr;
  const std::string* client = nullptr;
  const std::string* server = nullptr;
  std::string rpc_name;
  std::string error;  // empty if the RPC succeeded

  // Positions in the tree, ordered by send time.
  std::vector<int> children;
  int parent = -1;  // -1: the root

  // RPCs in the same lane do not overlap in time. An RPC's lane is above those
  // of the RPCs that it caused.
  int lane = 0;

  int64_t start_ns() const { return sample->start_timestamp_ns(); }
  int64_t end_ns() const {
    return base::SaturatingAdd(start_ns(), sample->latency_ns());
  }
};

// All RPCs caused by one RPC of a main action list, which is first. If that
// root was not kept, its children become roots.
using TraceTree = std::vector<TracedRpc>;

// Returns the trees, ordered by the roots' send times.
std::vector<TraceTree> CollectTraces(const TestResult& result);

// Tells how to trace RPCs.
absl::Status NoTracesError();

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_EXPORT_TRACE_TREE_H_
