// Building blocks of patterns. Each function adds an element to `test` and
// returns it, so that the caller can adjust it.

#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_TRAFFIC_PARTS_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_TRAFFIC_PARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {

// The maximum number of instances of a service. Callers must not exceed it.
inline constexpr double kMaxInstances = 100000;

ServiceSpec& AddService(DistributedSystemDescription& test,
                        absl::string_view name, int64_t count);

// An empty fanout means the default.
RpcSpec& AddRpc(DistributedSystemDescription& test, absl::string_view name,
                absl::string_view client, absl::string_view server,
                absl::string_view fanout);

// Adds an RPC with payloads "PREFIX_request_payload" and
// "PREFIX_response_payload", or without the prefix if it is empty.
// AddPayloadPair() defines the payloads.
RpcSpec& AddRpcWithPayloads(DistributedSystemDescription& test,
                            absl::string_view name, absl::string_view client,
                            absl::string_view server, absl::string_view fanout,
                            absl::string_view payload_prefix);

void AddPayloadPair(DistributedSystemDescription& test,
                    absl::string_view payload_prefix, int64_t request_bytes,
                    int64_t response_bytes);

ActionList& AddActionList(DistributedSystemDescription& test,
                          absl::string_view name,
                          std::vector<std::string> actions = {});

Action& AddRpcAction(DistributedSystemDescription& test, absl::string_view name,
                     absl::string_view rpc_name);

// The choices for the parameter "synchronization_mode".
std::vector<std::string> SynchronizationModes();

// For names of tests: the parameter "arrivals" or, without it,
// "synchronization_mode".
std::string ArrivalsName(const ParameterValues& values);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_TRAFFIC_PARTS_H_
