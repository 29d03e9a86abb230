#include "test_builder/patterns/traffic_parts.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"

namespace distbench::test_builder {
namespace {

std::string SettingsForm(absl::string_view settings) {
  std::string form;
  for (absl::string_view setting :
       absl::StrSplit(settings, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(setting, absl::MaxSplits('=', 1));
    const auto& [name, value] = parts;
    absl::StrAppend(&form, "activity_settings { name: \"", name, "\" ",
                    value[0] == '"' ? "string_value" : "int64_value", ": ",
                    value, " }\n");
  }
  return form;
}

}  // namespace

std::string ArrivalsName(const ParameterValues& values) {
  if (!values.Has(kArrivals)) return values.Text("synchronization_mode");
  return absl::StrReplaceAll(values.Text(kArrivals), {{":", "_"}});
}

std::vector<Parameter> PayloadParameters(absl::string_view request_bytes,
                                         absl::string_view response_bytes) {
  return {IntegerParameter("request_size", request_bytes, {0},
                           "Bytes per request.", Unit::kBytes),
          IntegerParameter("response_size", response_bytes, {0},
                           "Bytes per response.", Unit::kBytes)};
}

Parameter QpsParameter(absl::string_view default_qps) {
  return NumberParameter("qps", default_qps, {0.001, 1e9},
                         "Queries per second that enter the "
                         "system.",
                         Unit::kPerSecond);
}

std::vector<Parameter> QueryLoadParameters(absl::string_view default_qps) {
  return {
      QpsParameter(default_qps),
      ExcludedBy(kArrivals,
                 ChoiceParameter("synchronization_mode", "exponential",
                                 {"constant", "exponential"},
                                 "Queries arrive at random (exponential) or at "
                                 "constant intervals.")),
      NumberParameter("warmup_seconds", "3", {0, 86400},
                      "Seconds at the start that are not measured.",
                      Unit::kSeconds),
  };
}

absl::Status DeriveQueryLoad(const ParameterValues& values,
                             DerivedValues& derived) {
  derived["interval_ns"] =
      absl::StrCat(std::llround(1e9 / values.Number("qps")));
  derived["warmup_ns"] =
      absl::StrCat(std::llround(values.Number("warmup_seconds") * 1e9));
  derived["query_load"] = R"(
      max_duration_us: <duration_us>
      open_loop_interval_ns: <interval_ns>
      open_loop_interval_distribution: "<synchronization_mode>"
      warmup_ns: <warmup_ns>)";
  return absl::OkStatus();
}

std::string QueriedServers(absl::string_view action, absl::string_view rpc,
                           absl::string_view request_bytes,
                           absl::string_view response_bytes,
                           absl::string_view fields) {
  return absl::Substitute(R"(
    services { name: "client" count: 1 }
    services { name: "server" count: <server_count> }
    payload_descriptions { name: "request_payload" size: $2 }
    payload_descriptions { name: "response_payload" size: $3 }
    action_lists { name: "client" action_names: "$0" }
    actions { name: "$0" rpc_name: "$1" iterations { <query_load> } }
    rpc_descriptions {
      name: "$1" client: "client" server: "server"
      fanout_filter: "round_robin"
      request_payload_name: "request_payload"
      response_payload_name: "response_payload"
      $4
    })",
                          action, rpc, request_bytes, response_bytes, fields);
}

std::string ActionNames(absl::Span<const Stage> stages) {
  std::string names;
  for (const Stage& stage : stages) {
    absl::StrAppend(&names, " action_names: \"", stage.name, "\"");
  }
  return names;
}

std::string StagesForm(absl::Span<const Stage> stages,
                       std::vector<absl::string_view> before) {
  std::string form;
  for (const Stage& stage : stages) {
    std::string fields = absl::Substitute(
        R"(name: "$0" activity_config_name: "$0")", stage.name);
    for (absl::string_view action : before) {
      absl::StrAppend(&fields, " dependencies: \"", action, "\"");
    }
    absl::SubstituteAndAppend(
        &form, R"(
    activity_configs {
      name: "$0"
      activity_settings { name: "activity_func" string_value: "$1" }
      $2
      $3
    }
    actions { $4 })",
        stage.name, stage.function, SettingsForm(stage.settings),
        stage.pool.empty() ? ""
                           : absl::StrCat("pool_name: \"", stage.pool, "\""),
        fields);
    before = {stage.name};
  }
  return form;
}

}  // namespace distbench::test_builder
