// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/comparability.h"

#include <google/protobuf/util/message_differencer.h>

#include <functional>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/report/measurements/engines.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::report {
namespace {

using Config = DistributedSystemDescription;

// Removes everything that is neither traffic nor a condition of it.
Config Nameless(Config config) {
  config.clear_name();
  config.clear_attributes();
  config.clear_random_seed();
  config.clear_objectives();
  config.clear_server_metrics();
  config.clear_requirements();
  config.clear_experiment();
  config.clear_sample_memory_bytes();
  config.clear_recording_memory_bytes();
  return config;
}

Config TrafficOf(const TestRun& run) {
  Config config = Nameless(run.result->traffic_config());
  config.clear_node_service_bundles();
  config.clear_service_constraints();
  config.clear_default_protocol();
  config.clear_protocol_driver_options();
  config.clear_workers_per_instance();
  config.clear_delay_actions_by_spinning();
  config.clear_overload_limits();
  config.clear_controls();
  for (ServiceSpec& service : *config.mutable_services()) {
    service.clear_protocol_driver_options_name();
  }
  return config;
}

Config WorkOf(const TestRun& run) {
  const Config& config = run.result->traffic_config();
  Config work;
  *work.mutable_payload_descriptions() = config.payload_descriptions();
  *work.mutable_activity_configs() = config.activity_configs();
  return work;
}

// Returns the first difference, on one line; empty if there is none.
std::string FirstDifference(const Config& a, const Config& b) {
  std::string report;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&report);
  if (differencer.Compare(a, b)) return "";
  return report.substr(0, report.find('\n'));
}

// Compares a part of the configs of all runs.
std::string DifferenceFromFirst(absl::Span<const TestRun> base,
                                absl::Span<const TestRun> next,
                                Config (*part)(const TestRun& run)) {
  const Config first = part(base.front());
  for (const absl::Span<const TestRun> group : {base, next}) {
    for (const TestRun& run : group) {
      std::string difference = FirstDifference(first, part(run));
      if (!difference.empty()) return difference;
    }
  }
  return "";
}

struct Condition {
  absl::string_view name;

  // The values in a run; several if its nodes differ, none if not known.
  std::function<std::set<std::string>(const TestResult&)> values;

  // What it means to have none, if that is known after all.
  absl::string_view without = "";
};

std::set<std::string> ValuesIn(absl::Span<const TestRun> runs,
                               const Condition& condition) {
  std::set<std::string> values;
  for (const TestRun& run : runs) {
    values.merge(condition.values(*run.result));
  }
  return values;
}

// A condition that is part of the config, compared as text.
template <typename KeepOnly>
Condition ConfigCondition(absl::string_view name, KeepOnly keep_only) {
  return {name, [keep_only](const TestResult& result) {
            Config kept;
            keep_only(result.traffic_config(), kept);
            return std::set<std::string>{kept.ShortDebugString()};
          }};
}

// A condition that is a fact about the nodes' hosts. Hosts for which it is
// unknown are ignored.
Condition HostCondition(absl::string_view name,
                        std::function<std::string(const HostFacts&)> fact) {
  return {name, [fact](const TestResult& result) {
            std::set<std::string> values;
            for (const auto& [node, resources] :
                 result.resource_usage_logs().node_resources()) {
              std::string value = fact(resources.host());
              if (!value.empty()) values.insert(std::move(value));
            }
            return values;
          }};
}

std::set<std::string> NodeCount(const TestResult& result) {
  std::set<std::string> nodes;
  for (const auto& [name, endpoint] : result.placement().service_endpoints()) {
    if (endpoint.has_node_alias()) nodes.insert(endpoint.node_alias());
  }
  if (nodes.empty()) return {};
  return {absl::StrCat(nodes.size())};
}

// Programs besides the nodes' own.
std::set<std::string> Engines(const TestResult& result) {
  std::set<std::string> engines;
  for (EngineUse& use : EnginesOf(result)) engines.merge(use.texts);
  return engines;
}

std::string GrpcVersion(const HostFacts& host) {
  const auto found = host.versions().find("grpc");
  return found == host.versions().end() ? "" : found->second;
}

std::string CpuCount(const HostFacts& host) {
  return host.has_cpu_count() ? absl::StrCat(host.cpu_count()) : "";
}

std::string TcpEcnMode(const HostFacts& host) {
  return host.has_tcp_ecn_mode() ? absl::StrCat(host.tcp_ecn_mode()) : "";
}

std::string Smt(const HostFacts& host) {
  if (!host.has_is_smt_active()) return "";
  return host.is_smt_active() ? "on" : "off";
}

std::string CpuBoost(const HostFacts& host) {
  if (!host.has_is_cpu_boost_enabled()) return "";
  return host.is_cpu_boost_enabled() ? "on" : "off";
}

std::string IdleStates(const HostFacts& host) {
  return absl::StrJoin(host.idle_states(), " ");
}

// Vulnerabilities that do not affect the CPU make no difference.
std::string Mitigations(const HostFacts& host) {
  std::vector<std::string> states;
  for (const auto& [name, state] : std::map<std::string, std::string>(
           host.mitigations().begin(), host.mitigations().end())) {
    if (state == "Not affected") continue;
    states.push_back(absl::StrCat(name, ": ", state));
  }
  return absl::StrJoin(states, ", ");
}

// What is simulated: the hosts, the network and the costs of RPCs.
std::set<std::string> Fabric(const TestResult& result) {
  if (!IsSimulated(result)) return {};
  return {absl::StrCat(result.simulation().host_count(), " hosts, ",
                       result.simulation().fabric().ShortDebugString())};
}

std::vector<Condition> Conditions() {
  return {
      {"simulated fabric", Fabric},
      ConfigCondition(kDriversCircumstance,
                      [](const Config& from, Config& kept) {
                        kept.set_default_protocol(from.default_protocol());
                        *kept.mutable_protocol_driver_options() =
                            from.protocol_driver_options();
                        for (const ServiceSpec& service : from.services()) {
                          kept.add_services()->set_protocol_driver_options_name(
                              service.protocol_driver_options_name());
                        }
                      }),
      ConfigCondition("placement",
                      [](const Config& from, Config& kept) {
                        *kept.mutable_node_service_bundles() =
                            from.node_service_bundles();
                        *kept.mutable_service_constraints() =
                            from.service_constraints();
                      }),
      ConfigCondition("threads and waiting",
                      [](const Config& from, Config& kept) {
                        kept.set_workers_per_instance(
                            from.workers_per_instance());
                        kept.set_delay_actions_by_spinning(
                            from.delay_actions_by_spinning());
                      }),
      ConfigCondition("controls",
                      [](const Config& from, Config& kept) {
                        // A set without settings is as good as none.
                        ControlSet settings = from.controls();
                        settings.clear_name();
                        settings.clear_strict();
                        if (settings.ByteSizeLong() > 0) {
                          *kept.mutable_controls() = std::move(settings);
                        }
                      }),
      {"distbench version",
       [](const TestResult& result) {
         return std::set<std::string>{std::string(absl::StripAsciiWhitespace(
             absl::StrCat(result.run_info().version(), " ",
                          result.run_info().revision())))};
       }},
      {"engines", Engines, "the nodes' own program"},
      {"number of nodes", NodeCount},
      HostCondition("gRPC", GrpcVersion),
      HostCondition("CPU model", &HostFacts::cpu_model),
      HostCondition("number of CPUs", CpuCount),
      HostCondition("kernel", &HostFacts::kernel),
      HostCondition("CPU frequency governor",
                    &HostFacts::cpu_frequency_governor),
      HostCondition("SMT", Smt),
      HostCondition("CPU boost", CpuBoost),
      HostCondition("idle states", IdleStates),
      HostCondition("mitigations", Mitigations),
      HostCondition("transparent huge pages",
                    &HostFacts::transparent_huge_pages),
      HostCondition("TCP congestion control",
                    &HostFacts::tcp_congestion_control),
      HostCondition("TCP ECN mode", TcpEcnMode),
      HostCondition("default queueing discipline",
                    &HostFacts::default_queueing_discipline),
  };
}

constexpr size_t kMaxValueLength = 120;

std::string Shown(std::string text) {
  if (text.size() > kMaxValueLength) {
    text.resize(kMaxValueLength);
    text += "...";
  }
  return text.empty() ? "not known" : text;
}

}  // namespace

std::string DescribeOrigins(absl::Span<const TestRun> base,
                            absl::Span<const TestRun> next) {
  const std::string of_base = OriginOf(base);
  const std::string of_next = OriginOf(next);
  if (of_base != kRealOrigin && of_base == of_next) {
    return absl::StrCat("base and new are ", of_base);
  }
  if (of_base == of_next) return "";
  return absl::StrCat("base is ", of_base, ", new is ", of_next);
}

std::string TrafficDifference(absl::Span<const TestRun> base,
                              absl::Span<const TestRun> next) {
  return DifferenceFromFirst(base, next, TrafficOf);
}

std::string WorkDifference(absl::Span<const TestRun> base,
                           absl::Span<const TestRun> next) {
  return DifferenceFromFirst(base, next, WorkOf);
}

std::string TrafficText(const TestRun& run) {
  return TrafficOf(run).ShortDebugString();
}

std::string WorkText(const TestRun& run) {
  return WorkOf(run).ShortDebugString();
}

std::vector<Circumstance> CompareCircumstances(
    absl::Span<const TestRun> base, absl::Span<const TestRun> other) {
  std::vector<Circumstance> circumstances;
  for (const Condition& condition : Conditions()) {
    Circumstance circumstance = {
        .name = std::string(condition.name),
        .base = absl::StrJoin(ValuesIn(base, condition), ", "),
        .other = absl::StrJoin(ValuesIn(other, condition), ", ")};
    if (circumstance.base.empty() && circumstance.other.empty()) continue;
    for (std::string* side : {&circumstance.base, &circumstance.other}) {
      if (side->empty()) *side = std::string(condition.without);
    }
    circumstances.push_back(std::move(circumstance));
  }
  return circumstances;
}

std::string DescribeCircumstance(const Circumstance& circumstance,
                                 absl::string_view other_name) {
  return absl::StrCat(circumstance.name, ": base ", Shown(circumstance.base),
                      ", ", other_name, " ", Shown(circumstance.other));
}

std::vector<std::string> DescribeDifferences(absl::Span<const TestRun> base,
                                             absl::string_view other_name,
                                             absl::Span<const TestRun> other) {
  std::vector<std::string> differences;
  for (const Circumstance& circumstance : CompareCircumstances(base, other)) {
    if (!circumstance.differs()) continue;
    differences.push_back(DescribeCircumstance(circumstance, other_name));
  }
  return differences;
}

}  // namespace distbench::report
