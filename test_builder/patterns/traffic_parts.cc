#include "test_builder/patterns/traffic_parts.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "test_builder/parameters/parameter.h"

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

void AddSetting(const std::string& name,
                const std::variant<int64_t, std::string>& value,
                ActivityConfig& activity) {
  NamedSetting& setting = *activity.add_activity_settings();
  setting.set_name(name);
  if (const auto* number = std::get_if<int64_t>(&value)) {
    setting.set_int64_value(*number);
  } else {
    setting.set_string_value(std::get<std::string>(value));
  }
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

std::string ArrivalsName(const ParameterValues& values) {
  if (!values.Has(kArrivals)) return values.Text("synchronization_mode");
  return absl::StrReplaceAll(values.Text(kArrivals), {{":", "_"}});
}

std::string Alias(const ParameterValues& values, absl::string_view form) {
  const std::vector<absl::string_view> parts = absl::StrSplit(form, '{');
  std::string alias(parts.front());
  for (absl::string_view part : absl::MakeSpan(parts).subspan(1)) {
    const size_t end = part.find('}');
    const absl::string_view name = part.substr(0, end);
    absl::StrAppend(
        &alias, name == kArrivals ? ArrivalsName(values) : values.Text(name),
        part.substr(end + 1));
  }
  return alias;
}

std::vector<Parameter> PayloadParameters(absl::string_view request_bytes,
                                         absl::string_view response_bytes) {
  return {InBytes(IntegerParameter("request_size", request_bytes, {0},
                                   "Bytes per request.")),
          InBytes(IntegerParameter("response_size", response_bytes, {0},
                                   "Bytes per response."))};
}

Parameter QpsParameter(absl::string_view default_qps) {
  return PerSecond(NumberParameter("qps", default_qps, {0.001, 1e9},
                                   "Queries per second that enter the "
                                   "system."));
}

std::vector<Parameter> QueryLoadParameters(absl::string_view default_qps) {
  return {
      QpsParameter(default_qps),
      ExcludedBy(kArrivals,
                 ChoiceParameter("synchronization_mode", "exponential",
                                 {"constant", "exponential"},
                                 "Queries arrive at random (exponential) or at "
                                 "constant intervals.")),
      InSeconds(NumberParameter("warmup_seconds", "3", {0, 86400},
                                "Seconds at the start that are not measured.")),
  };
}

void SetQueryLoad(const ParameterValues& values, Iterations& iterations) {
  iterations.set_max_duration_us(TestDurationUs(values));
  iterations.set_open_loop_interval_ns(
      std::llround(1e9 / values.Number("qps")));
  iterations.set_open_loop_interval_distribution(
      values.Text("synchronization_mode"));
  iterations.set_warmup_ns(std::llround(values.Number("warmup_seconds") * 1e9));
}

RpcSpec& AddQueriedServers(DistributedSystemDescription& test,
                           const ParameterValues& values,
                           absl::string_view action, absl::string_view rpc,
                           int64_t request_bytes, int64_t response_bytes) {
  AddService(test, "client", 1);
  AddService(test, "server", values.Integer("server_count"));
  AddPayloadPair(test, "", request_bytes, response_bytes);
  AddActionList(test, "client", {std::string(action)});
  SetQueryLoad(values, *AddRpcAction(test, action, rpc).mutable_iterations());
  return AddRpcWithPayloads(test, rpc, "client", "server", "round_robin", "");
}

void Stages::Do(const std::string& name, const std::string& function,
                const std::string& pool, const ActivitySettings& settings) {
  ActivityConfig& activity = *body_.add_activity_configs();
  activity.set_name(name);
  if (!pool.empty()) activity.set_pool_name(pool);
  AddSetting("activity_func", function, activity);
  for (const auto& [setting, value] : settings) {
    AddSetting(setting, value, activity);
  }
  Append(name).set_activity_config_name(name);
}

void Stages::Call(const std::string& name, const std::vector<std::string>& rpcs,
                  int64_t calls_of_each) {
  std::vector<std::string> names;
  for (const std::string& rpc : rpcs) {
    Action& action = AddRpcAction(body_, absl::StrCat(name, "_", rpc), rpc);
    action.mutable_iterations()->set_max_iteration_count(calls_of_each);
    action.mutable_iterations()->set_max_parallel_iterations(calls_of_each);
    for (const std::string& last : last_) action.add_dependencies(last);
    list_.add_action_names(action.name());
    names.push_back(action.name());
  }
  last_ = names;
}

Action& Stages::Append(const std::string& name) {
  Action& action = *body_.add_actions();
  action.set_name(name);
  for (const std::string& last : last_) action.add_dependencies(last);
  list_.add_action_names(name);
  last_ = {name};
  return action;
}

void AddPool(const std::string& name, int64_t size,
             DistributedSystemDescription& body) {
  ActivityPoolSpec& pool = *body.add_activity_pools();
  pool.set_name(name);
  pool.set_size(static_cast<int32_t>(size));
}

}  // namespace distbench::test_builder
