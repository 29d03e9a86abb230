// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/walk.h"

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"

namespace distbench::results {

void ForEachRpcLog(const TestResult& result,
                   absl::FunctionRef<void(const RpcLogView&)> visit) {
  for (const auto* client : Sorted(result.service_logs().instance_logs())) {
    for (const auto* server : Sorted(client->second.peer_logs())) {
      for (const auto* logs :
           {&server->second.rpc_logs(), &server->second.replay_logs()}) {
        for (const auto* rpc : Sorted(*logs)) {
          const std::string rpc_name = RpcName(result, rpc->first);
          visit({client->first, server->first, rpc->first, rpc_name,
                 rpc->second, client->second.error_dictionary()});
        }
      }
    }
  }
}

std::string RpcName(const DistributedSystemDescription& test, int rpc_index) {
  const auto& rpcs = test.rpc_descriptions();
  const auto& traces = test.rpc_replay_traces();
  if (rpc_index >= 0 && rpc_index < rpcs.size()) return rpcs[rpc_index].name();
  const int64_t trace = int64_t{rpc_index} - rpcs.size();
  if (trace >= 0 && trace < traces.size()) return traces[trace].name();
  return absl::StrCat("rpc[", rpc_index, "]");
}

std::string ErrorMessage(const ErrorDictionary& errors, int error_index) {
  if (error_index == 0) {
    return "cause not recorded";
  }
  if (error_index < 0 || error_index >= errors.error_message_size()) {
    return absl::StrCat("error ", error_index,
                        ", which is missing from the error dictionary");
  }
  return errors.error_message(error_index);
}

}  // namespace distbench::results
