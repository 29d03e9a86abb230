#include "distbench/products/stacks/stack_values.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/report/measurements/measure.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/measurements/topology.h"
#include "distbench/results/walk.h"

namespace distbench::stacks {
namespace {

using Figures = std::map<std::string, StackFigure>;

constexpr std::pair<results::TimePart, const char*> kParts[] = {
    {results::TimePart::kNetwork, "network_share"},
    {results::TimePart::kServerQueue, "server_queue_share"},
    {results::TimePart::kServerHandler, "server_handler_share"}};

// The RPCs that nothing else causes, and who sends them.
struct Entries {
  std::set<std::string> rpcs;
  std::set<std::string> clients;
};

Entries EntriesOf(const TestResult& result) {
  Entries entries;
  const report::Topology topology = report::FindTopology(result);
  for (const report::TopologyEdge& edge : topology.edges) {
    if (!edge.is_entry) continue;
    entries.rpcs.insert(edge.rpc);
    entries.clients.insert(edge.client);
  }
  if (!entries.rpcs.empty()) return entries;
  for (const report::TopologyEdge& edge : topology.edges) {
    entries.rpcs.insert(edge.rpc);
  }
  return entries;
}

void AddMeasured(const report::RpcMeasurements& rpc, Figures& figures) {
  for (const StackMetric& metric : kStackMetrics) {
    if (!metric.measured) continue;
    const report::LatencyKind latency = rpc.latency_kind();
    const auto estimate = report::Measure(*metric.measured, rpc, latency);
    if (!estimate.ok() ||
        !report::IsSupported(*metric.measured, rpc, latency)) {
      continue;
    }
    StackFigure& figure = figures[metric.name];
    figure.value = estimate->value;
    if (!stats::IsLatency(*metric.measured)) continue;
    figure.lower = estimate->lower;
    figure.upper = estimate->upper;
  }
}

// The shares of the parts in their sum, which is the service time.
void AddTimeParts(const results::RpcTotals& totals, Figures& figures) {
  double sum_ns = 0;
  for (const auto& [part, name] : kParts) {
    sum_ns += report::TimesOf(totals, part).sum();
  }
  if (report::TimesOf(totals, results::TimePart::kNetwork).count() == 0 ||
      sum_ns <= 0) {
    return;
  }
  for (const auto& [part, name] : kParts) {
    figures[name] = {report::TimesOf(totals, part).sum() / sum_ns};
  }
}

StackValues ValuesOfRpc(const report::RpcMeasurements& rpc) {
  StackValues values;
  values.has_response_times = rpc.response_time.count() > 0;
  if (rpc.offered) {
    values.offered_per_second =
        report::PerSecond(static_cast<double>(rpc.offered->offered_count()),
                          rpc.totals.counts.duration_ns());
  }
  AddMeasured(rpc, values.figures);
  AddTimeParts(rpc.totals, values.figures);
  return values;
}

// Nothing unless every instance had a process of its own, and kept it.
Figures CpuPerRpc(const TestResult& result,
                  const std::set<std::string>& clients, double rpc_count) {
  double client_ns = 0;
  double server_ns = 0;
  int count = 0;
  for (const auto& [node, resources] :
       result.resource_usage_logs().node_resources()) {
    for (const auto& [instance, usage] : resources.engine_usages()) {
      const std::string service = instance.substr(0, instance.find('/'));
      (clients.contains(service) ? client_ns : server_ns) +=
          1e9 *
          (usage.user_cpu_time_seconds() + usage.system_cpu_time_seconds());
      ++count;
    }
  }
  // Damaged files may contain any number.
  if (rpc_count == 0 || count == 0 ||
      count < result.placement().service_endpoints_size() ||
      !std::isfinite(client_ns + server_ns)) {
    return {};
  }
  Figures figures = {{"cpu_ns", {(client_ns + server_ns) / rpc_count}}};
  if (clients.empty()) return figures;
  figures["client_cpu_ns"] = {client_ns / rpc_count};
  // Without other services, clients serve one another.
  if (server_ns > 0) figures["server_cpu_ns"] = {server_ns / rpc_count};
  return figures;
}

}  // namespace

std::map<std::string, StackValues> StackValuesOf(const TestResult& result) {
  const Entries entries = EntriesOf(result);
  const report::TestTotals totals = report::AddUp(result);
  std::map<std::string, StackValues> values;
  double rpc_count = 0;
  for (const int index : report::ListRpcs(result)) {
    const std::string name = results::RpcName(result, index);
    if (!entries.rpcs.contains(name)) continue;
    const report::RpcMeasurements rpc = report::MeasurementsOf(
        result, totals, index, std::numeric_limits<int64_t>::max());
    const results::RpcCounts& counts = rpc.totals.counts;
    rpc_count += static_cast<double>(counts.succeeded_count) +
                 static_cast<double>(counts.failed_count) +
                 static_cast<double>(counts.warmup_count);
    values[name] = ValuesOfRpc(rpc);
  }
  const Figures cpu = CpuPerRpc(result, entries.clients, rpc_count);
  for (auto& [name, rpc] : values) {
    rpc.figures.insert(cpu.begin(), cpu.end());
  }
  return values;
}

namespace {

// The protocol drivers that carry the RPCs of a service or a test.
struct Stack {
  std::string drivers;
  std::string settings;  // as the config has them: "client connections=4"
};

std::string SettingText(absl::string_view side, const NamedSetting& setting) {
  return absl::StrCat(side, " ", setting.name(), "=",
                      setting.has_int64_value()
                          ? absl::StrCat(setting.int64_value())
                          : setting.string_value());
}

std::string SettingsOf(const ProtocolDriverOptions& options) {
  std::set<std::string> settings;
  for (const NamedSetting& setting : options.client_settings()) {
    settings.insert(SettingText("client", setting));
  }
  for (const NamedSetting& setting : options.server_settings()) {
    settings.insert(SettingText("server", setting));
  }
  if (!options.netdev_name().empty()) {
    settings.insert(absl::StrCat("netdev_name=", options.netdev_name()));
  }
  if (options.ip_version() != 0) {
    settings.insert(absl::StrCat("ip_version=", options.ip_version()));
  }
  return absl::StrJoin(settings, ", ");
}

Stack StackOfService(const DistributedSystemDescription& test,
                     const config::TestNames& names,
                     const ServiceSpec& service) {
  const config::DriverStack stack = config::ResolveDriverStack(
      test, names, config::OptionsOf(names, service));
  // Results may name drivers that this program was built without.
  if (stack.problem) return {"an unknown driver", stack.problem->message};
  std::vector<std::string> drivers;
  std::vector<std::string> settings;
  for (const config::ResolvedDriver& level : stack.drivers) {
    drivers.push_back(level.driver->name);
    settings.push_back(SettingsOf(*level.options));
  }
  return {absl::StrJoin(drivers, " over "), absl::StrJoin(settings, "; ")};
}

Stack StackOf(const DistributedSystemDescription& test) {
  const config::TestNames names(test);
  std::set<std::string> drivers;
  std::string settings;
  // The services of each stack are part of it only if there are several.
  std::map<std::string, std::vector<std::string>> services;
  for (const ServiceSpec& service : test.services()) {
    if (config::IsOutside(service)) continue;
    const Stack stack = StackOfService(test, names, service);
    drivers.insert(stack.drivers);
    settings = stack.settings;
    services[absl::StrCat(stack.drivers, ": ", stack.settings)].push_back(
        service.name());
  }
  if (services.size() > 1) {
    std::vector<std::string> by_service;
    for (const auto& [stack, users] : services) {
      by_service.push_back(
          absl::StrCat(absl::StrJoin(users, ", "), ": ", stack));
    }
    settings = absl::StrJoin(by_service, "; ");
  }
  return {absl::StrJoin(drivers, " + "), settings};
}

}  // namespace

std::vector<std::string> NameStacks(absl::Span<const report::TestRun> runs) {
  std::vector<Stack> stacks;
  std::map<std::string, std::set<std::string>> settings_of_drivers;
  for (const report::TestRun& run : runs) {
    Stack& stack = stacks.emplace_back(StackOf(run.result->traffic_config()));
    stack.drivers = report::MarkedName(stack.drivers, *run.result);
    settings_of_drivers[stack.drivers].insert(stack.settings);
  }
  std::vector<std::string> names;
  for (const Stack& stack : stacks) {
    const bool is_unique = settings_of_drivers[stack.drivers].size() == 1;
    names.push_back(
        is_unique ? stack.drivers
        : stack.settings.empty()
            ? absl::StrCat(stack.drivers, " (defaults)")
            : absl::StrCat(stack.drivers, " (", stack.settings, ")"));
  }
  return names;
}

}  // namespace distbench::stacks
