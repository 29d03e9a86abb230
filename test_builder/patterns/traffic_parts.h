// Building blocks of patterns. Each function adds an element to `test` and
// returns it, so that the caller can adjust it.

#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_TRAFFIC_PARTS_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_TRAFFIC_PARTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
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

// For names of tests: the parameter "arrivals" or, without it,
// "synchronization_mode".
std::string ArrivalsName(const ParameterValues& values);

// Replaces each "{PARAMETER}" in `form` by its value, and "{arrivals}" by
// ArrivalsName().
std::string Alias(const ParameterValues& values, absl::string_view form);

// request_size and response_size.
std::vector<Parameter> PayloadParameters(absl::string_view request_bytes,
                                         absl::string_view response_bytes);

// The load of patterns that a number of queries per second enters.
Parameter QpsParameter(absl::string_view default_qps);

// The same, with synchronization_mode and warmup_seconds.
std::vector<Parameter> QueryLoadParameters(absl::string_view default_qps);

// Makes the iterations an open loop as the parameters say, for as long as the
// test lasts.
void SetQueryLoad(const ParameterValues& values, Iterations& iterations);

// Adds a client whose action sends queries, with the load of the parameters, to
// server_count servers in turn. Returns the RPC, whose handler the caller must
// add.
RpcSpec& AddQueriedServers(DistributedSystemDescription& test,
                           const ParameterValues& values,
                           absl::string_view action, absl::string_view rpc,
                           int64_t request_bytes, int64_t response_bytes);

// The work of a handler besides its answer: activities and RPCs in stages.
using ActivitySettings =
    std::vector<std::pair<std::string, std::variant<int64_t, std::string>>>;

// Builds a handler's action list, in which each stage waits for the previous
// one.
class Stages {
 public:
  // `list` must be one of body's, and outlive this object.
  Stages(DistributedSystemDescription& body, ActionList& list)
      : body_(body), list_(list) {}

  // Adds an activity with the stage's name. An empty pool means the default
  // pool.
  void Do(const std::string& name, const std::string& function,
          const std::string& pool, const ActivitySettings& settings);

  // Adds several concurrent RPCs. The stage ends when all of them have ended.
  void Call(const std::string& name, const std::vector<std::string>& rpcs,
            int64_t calls_of_each);

  // Continues after an action that the list already has.
  void Continue(const std::string& name) { last_ = {name}; }

 private:
  Action& Append(const std::string& name);

  DistributedSystemDescription& body_;
  ActionList& list_;
  std::vector<std::string> last_;
};

void AddPool(const std::string& name, int64_t size,
             DistributedSystemDescription& body);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_TRAFFIC_PARTS_H_
