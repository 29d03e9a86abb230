#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_PEER_TRAFFIC_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_PEER_TRAFFIC_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {

struct PeerQueries {
  absl::string_view service;
  absl::string_view fanout;
  int64_t interval_ns = 0;  // between the queries of an instance
  int64_t warmup_iterations = 0;
};

// Adds a service whose instances query each other in an open loop, with the
// action "SERVICE_queries" and the RPC "SERVICE_query", which is answered at
// once and returned. Uses the parameters synchronization_mode and
// test_duration.
RpcSpec& AddPeerQueries(DistributedSystemDescription& test,
                        const ParameterValues& values,
                        const PeerQueries& queries);

// Same, with payloads and timing from the parameters rpc_interval_us,
// request_size and response_size, and a warm-up of three seconds.
RpcSpec& AddPeriodicPeerQueries(DistributedSystemDescription& test,
                                const ParameterValues& values,
                                absl::string_view service,
                                absl::string_view fanout);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_PEER_TRAFFIC_H_
