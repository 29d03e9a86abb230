#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_PEER_TRAFFIC_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_PEER_TRAFFIC_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameter.h"

namespace distbench {

struct PeerQueries {
  absl::string_view service;
  absl::string_view fanout;
  int64_t interval_ns = 0;  // of each instance's queries
  int64_t warmup_iterations = 0;
};

// A service whose instances query each other in open loop: action
// "SERVICE_queries", RPC "SERVICE_query" (returned), answered at once. Uses the
// parameters synchronization_mode and test_duration.
RpcSpec& AddPeerQueries(DistributedSystemDescription& test,
                        const ParameterValues& values,
                        const PeerQueries& queries);

// The same with payloads and timing from the parameters rpc_interval_us,
// request_size and response_size, and a warm-up of three seconds.
RpcSpec& AddPeriodicPeerQueries(DistributedSystemDescription& test,
                                const ParameterValues& values,
                                absl::string_view service,
                                absl::string_view fanout);

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_PEER_TRAFFIC_H_
