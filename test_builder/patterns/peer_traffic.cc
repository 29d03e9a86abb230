#include "test_builder/patterns/peer_traffic.h"

#include "absl/strings/str_cat.h"
#include "test_builder/parameters/common_parameters.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {

RpcSpec& AddPeerQueries(DistributedSystemDescription& test,
                        const ParameterValues& values,
                        const PeerQueries& queries) {
  const std::string action_name = absl::StrCat(queries.service, "_queries");
  const std::string rpc_name = absl::StrCat(queries.service, "_query");
  AddActionList(test, queries.service, {action_name});
  Iterations& iterations =
      *AddRpcAction(test, action_name, rpc_name).mutable_iterations();
  iterations.set_max_duration_us(TestDurationUs(values));
  iterations.set_open_loop_interval_ns(queries.interval_ns);
  iterations.set_open_loop_interval_distribution(
      values.Text("synchronization_mode"));
  iterations.set_warmup_iterations(queries.warmup_iterations);
  AddActionList(test, rpc_name);
  return AddRpc(test, rpc_name, queries.service, queries.service,
                queries.fanout);
}

RpcSpec& AddPeriodicPeerQueries(DistributedSystemDescription& test,
                                const ParameterValues& values,
                                absl::string_view service,
                                absl::string_view fanout) {
  constexpr int64_t kWarmupUs = 3'000'000;
  const int64_t interval_us = values.Integer("rpc_interval_us");
  RpcSpec& rpc = AddPeerQueries(test, values,
                                {.service = service,
                                 .fanout = fanout,
                                 .interval_ns = interval_us * 1000,
                                 .warmup_iterations = kWarmupUs / interval_us});
  rpc.set_request_payload_name("request_payload");
  rpc.set_response_payload_name("response_payload");
  AddPayloadPair(test, "", values.Integer("request_size"),
                 values.Integer("response_size"));
  return rpc;
}

}  // namespace distbench::test_builder
