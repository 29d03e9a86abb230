// How the executions of one RPC call others: how often, at once or in turn.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_CALL_GROUPS_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_CALL_GROUPS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "distbench/products/trace_import/traces/traffic_model.h"

namespace distbench::trace_import {

class CallGroupCounter {
 public:
  // Counts an execution: `trace[position]`. `rpcs` are the RPCs of the calls of
  // the trace.
  void Add(const Trace& trace, int position, const std::vector<int>& rpcs);

  std::vector<CallGroup> Groups() const;

 private:
  struct Counted {
    std::map<int, int64_t> counts;  // without 0
    int64_t executions = 0;
    int64_t pairs = 0;  // of calls, one after the other by their starts
    int64_t overlapping_pairs = 0;
    double start_ns = 0;  // sum of the first starts, after the parents'
  };

  // Of two RPCs that the same execution calls.
  struct Order {
    int64_t executions = 0;
    int64_t first_ended = 0;  // the first's calls before the second's began
  };

  bool Precedes(int first, int second) const;

  int64_t executions_ = 0;
  std::map<int, Counted> counted_;              // by RPC
  std::map<std::pair<int, int>, Order> order_;  // by RPCs
};

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_CALL_GROUPS_H_
