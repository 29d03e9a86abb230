// Traced RPCs, put together to the trees that they were parts of.

#ifndef DISTBENCH_REPORT_EXPORT_TRACE_TREE_H_
#define DISTBENCH_REPORT_EXPORT_TRACE_TREE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/results.pb.h"

namespace distbench {

struct TracedRpc {
  // Into the result.
  const RpcSample* sample = nullptr;
  const std::string* client = nullptr;
  const std::string* server = nullptr;
  std::string rpc_name;
  std::string error;  // empty: succeeded

  // Positions in the tree, in order of their sends.
  std::vector<int> children;
  int parent = -1;  // -1: the root

  // RPCs of a lane do not overlap in time, and those below an RPC in the tree
  // are in lanes below its own.
  int lane = 0;

  int64_t start_ns() const { return sample->start_timestamp_ns(); }
  int64_t end_ns() const { return start_ns() + sample->latency_ns(); }
};

// All RPCs that one RPC of a main action list led to, the root first. If the
// root was not kept, its children are roots of their own.
using TraceTree = std::vector<TracedRpc>;

// In order of the roots' sends.
std::vector<TraceTree> CollectTraces(const TestResult& result);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_EXPORT_TRACE_TREE_H_
