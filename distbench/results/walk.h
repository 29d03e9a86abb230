// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Visits a test's RPC logs, with indices resolved to names.

#ifndef DISTBENCH_RESULTS_WALK_H_
#define DISTBENCH_RESULTS_WALK_H_

#include <algorithm>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::results {

// The entries of a map of a message, which is unordered, sorted by key.
template <typename Map>
std::vector<const typename Map::value_type*> Sorted(const Map& map) {
  std::vector<const typename Map::value_type*> entries;
  for (const auto& entry : map) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(),
            [](const auto* a, const auto* b) { return a->first < b->first; });
  return entries;
}

// One RPC from one client instance to one server instance. The references point
// into the result, except for rpc_name, which lives as long as the visit.
struct RpcLogView {
  const std::string& client;
  const std::string& server;
  int rpc_index;
  const std::string& rpc_name;
  const RpcPerformanceLog& log;
  const ErrorDictionary& errors;  // the client's dictionary
};

// Visits by client, server and RPC index, RPCs of replay traces last. Names are
// compared as strings, so c/10 comes before c/2.
void ForEachRpcLog(const TestResult& result,
                   absl::FunctionRef<void(const RpcLogView&)> visit);

// The RPC's name in its test; "rpc[INDEX]" if it has none. Indices beyond the
// RPCs are those of replay traces.
std::string RpcName(const DistributedSystemDescription& test, int rpc_index);
inline std::string RpcName(const TestResult& result, int rpc_index) {
  return RpcName(result.traffic_config(), rpc_index);
}

// The message of a failure, or a substitute if the dictionary lacks it.
std::string ErrorMessage(const ErrorDictionary& errors, int error_index);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_WALK_H_
