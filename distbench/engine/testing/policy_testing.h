// What tests of policies ask, and find.

#ifndef DISTBENCH_ENGINE_TESTING_POLICY_TESTING_H_
#define DISTBENCH_ENGINE_TESTING_POLICY_TESTING_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/results/rpc_totals.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::engine {

// The test of ClientServer(), whose RPC has a policy. `rpc` are further fields
// of the RPC. Without iterations, there is one.
DistributedSystemDescription PolicyTest(
    absl::string_view policy,
    absl::string_view iterations = "max_iteration_count: 1", int servers = 1,
    absl::string_view rpc = "");

// The results of its client.
struct PolicyOutcome {
  explicit PolicyOutcome(const ServiceLogs& logs);

  results::PolicyTotals policy;
  RpcStatistics rpc;  // of all servers
  std::map<std::string, int64_t> succeeded_by_server;
  std::map<std::string, int64_t> failed_by_server;
  std::vector<std::string> errors;
  int64_t attempts_in_series = 0;
  int64_t sample_count = 0;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_TESTING_POLICY_TESTING_H_
