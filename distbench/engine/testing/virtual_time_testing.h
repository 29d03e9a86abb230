// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// For tests in virtual time: configs, times and the logs of RPCs.

#ifndef DISTBENCH_ENGINE_TESTING_VIRTUAL_TIME_TESTING_H_
#define DISTBENCH_ENGINE_TESTING_VIRTUAL_TIME_TESTING_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/engine/virtual_time/virtual_time_system.h"
#include "distbench/results/rpc_totals.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::engine {

// Short names for times on the simulated clock, in nanoseconds.

inline constexpr int64_t kMs = 1'000'000;
inline constexpr int64_t kSecond = 1'000'000'000;

// Returns the config of a test with a client and `servers` servers.
// `client_action` completes the action "run", and `more` the config.
inline std::string ClientServer(absl::string_view client_action,
                                absl::string_view more = "", int servers = 1) {
  return absl::Substitute(
      R"pb(
        services { name: "client" count: 1 }
        services { name: "server" count: $2 }
        default_protocol: "loopback"
        payload_descriptions { name: "small" size: 100 }
        rpc_descriptions {
          name: "query"
          client: "client"
          server: "server"
          request_payload_name: "small"
          response_payload_name: "small"
        }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "query" }
        actions { name: "run" rpc_name: "query" $0 } $1)pb",
      client_action, more, servers);
}

// What tests ask of the logs of traffic in virtual time.

// Returns the statistics of one RPC between two instances; empty if there are
// none.
RpcStatistics StatisticsOf(const ServiceLogs& logs, const std::string& client,
                           const std::string& server, int rpc_index = 0);

// Returns the log of one RPC between two instances, which must exist.
const RpcPerformanceLog& LogOf(const ServiceLogs& logs,
                               const std::string& client,
                               const std::string& server, int rpc_index);

// What tests of policies ask, and find.

// The test of ClientServer(), whose RPC has a policy. `rpc` are further fields
// of the RPC. Without iterations, there is one.
DistributedSystemDescription PolicyTest(
    absl::string_view policy,
    absl::string_view iterations = "max_iteration_count: 1", int servers = 1,
    absl::string_view rpc = "");

// The results of its client.
struct PolicyOutcome {
  explicit PolicyOutcome(const ServiceLogs& logs);

  PolicyStatistics policy;
  RpcStatistics rpc;  // of all servers
  std::map<std::string, int64_t> succeeded_by_server;
  std::map<std::string, int64_t> failed_by_server;
  std::vector<std::string> errors;
  int64_t attempts_in_series = 0;
  int64_t sample_count = 0;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_TESTING_VIRTUAL_TIME_TESTING_H_
