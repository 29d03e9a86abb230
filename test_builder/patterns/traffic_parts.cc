#include "test_builder/patterns/traffic_parts.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "test_builder/parameters/arrivals_text.h"

namespace distbench::test_builder {
namespace {

std::string PayloadName(absl::string_view prefix, absl::string_view name) {
  return prefix.empty() ? std::string(name) : absl::StrCat(prefix, "_", name);
}

void AddPayload(DistributedSystemDescription& test, absl::string_view name,
                int64_t size_bytes) {
  PayloadSpec& payload = *test.add_payload_descriptions();
  payload.set_name(std::string(name));
  payload.set_size(size_bytes);
}

}  // namespace

ServiceSpec& AddService(DistributedSystemDescription& test,
                        absl::string_view name, int64_t count) {
  ServiceSpec& service = *test.add_services();
  service.set_name(std::string(name));
  service.set_count(static_cast<int32_t>(count));
  return service;
}

RpcSpec& AddRpc(DistributedSystemDescription& test, absl::string_view name,
                absl::string_view client, absl::string_view server,
                absl::string_view fanout) {
  RpcSpec& rpc = *test.add_rpc_descriptions();
  rpc.set_name(std::string(name));
  rpc.add_client(std::string(client));
  rpc.set_server(std::string(server));
  if (!fanout.empty()) rpc.set_fanout_filter(std::string(fanout));
  return rpc;
}

RpcSpec& AddRpcWithPayloads(DistributedSystemDescription& test,
                            absl::string_view name, absl::string_view client,
                            absl::string_view server, absl::string_view fanout,
                            absl::string_view payload_prefix) {
  RpcSpec& rpc = AddRpc(test, name, client, server, fanout);
  rpc.set_request_payload_name(PayloadName(payload_prefix, "request_payload"));
  rpc.set_response_payload_name(
      PayloadName(payload_prefix, "response_payload"));
  return rpc;
}

void AddPayloadPair(DistributedSystemDescription& test,
                    absl::string_view payload_prefix, int64_t request_bytes,
                    int64_t response_bytes) {
  AddPayload(test, PayloadName(payload_prefix, "request_payload"),
             request_bytes);
  AddPayload(test, PayloadName(payload_prefix, "response_payload"),
             response_bytes);
}

ActionList& AddActionList(DistributedSystemDescription& test,
                          absl::string_view name,
                          std::vector<std::string> actions) {
  ActionList& list = *test.add_action_lists();
  list.set_name(std::string(name));
  for (std::string& action : actions) {
    list.add_action_names(std::move(action));
  }
  return list;
}

Action& AddRpcAction(DistributedSystemDescription& test, absl::string_view name,
                     absl::string_view rpc_name) {
  Action& action = *test.add_actions();
  action.set_name(std::string(name));
  action.set_rpc_name(std::string(rpc_name));
  return action;
}

std::vector<std::string> SynchronizationModes() {
  return {"constant", "exponential", "sync_burst", "sync_burst_spread"};
}

std::string ArrivalsName(const ParameterValues& values) {
  if (!values.Has(kArrivals)) return values.Text("synchronization_mode");
  return absl::StrReplaceAll(values.Text(kArrivals), {{":", "_"}});
}

}  // namespace distbench::test_builder
