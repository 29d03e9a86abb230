#include "distbench/products/stacks/stack_values.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/measurements/topology.h"
#include "distbench/results/walk.h"

namespace distbench::stacks {
namespace {

// Positions in kStackMetrics.
enum Position : size_t {
  kRatePosition,
  kFirstPercentilePosition,
  kCpuPosition = kFirstPercentilePosition + 3,
  kClientCpuPosition,
  kServerCpuPosition,
  kFirstPartPosition,
  kFailedPosition = kFirstPartPosition + 3,
};
static_assert(kFailedPosition + 1 == kStackMetricCount);

constexpr double kPercents[] = {50, 99, 99.9};
constexpr results::TimePart kParts[] = {results::TimePart::kNetwork,
                                        results::TimePart::kServerQueue,
                                        results::TimePart::kServerHandler};

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

double AsDouble(int64_t latency_ns) {
  return latency_ns == stats::Outcomes::kFailed
             ? std::numeric_limits<double>::infinity()
             : static_cast<double>(latency_ns);
}

std::optional<double> AsDouble(const std::optional<int64_t>& bound) {
  if (!bound) return std::nullopt;
  return AsDouble(*bound);
}

void AddPercentiles(const report::RpcMeasurements& rpc, StackValues& values) {
  const bool by_response = rpc.response_time.count() > 0;
  const std::vector<stats::Outcomes> blocks =
      by_response ? report::ResponseTimeBlocks(rpc.series)
                  : report::ServiceTimeBlocks(rpc.series);
  for (const report::Percentile& percentile :
       report::EstimatePercentiles(rpc.latency(), blocks)) {
    for (size_t i = 0; i < std::size(kPercents); ++i) {
      if (percentile.percent != kPercents[i]) continue;
      values.figures[kFirstPercentilePosition + i] = {
          AsDouble(percentile.value_ns), AsDouble(percentile.interval.lower),
          AsDouble(percentile.interval.upper)};
    }
  }
}

// The shares of the parts in their sum, which is the service time.
void AddTimeParts(const results::RpcTotals& totals, StackValues& values) {
  double sum_ns = 0;
  for (const results::TimePart part : kParts)
    sum_ns += report::TimesOf(totals, part).sum();
  if (report::TimesOf(totals, results::TimePart::kNetwork).count() == 0 ||
      sum_ns <= 0)
    return;
  for (size_t i = 0; i < std::size(kParts); ++i) {
    values.figures[kFirstPartPosition + i] = {
        report::TimesOf(totals, kParts[i]).sum() / sum_ns, {}, {}};
  }
}

StackValues ValuesOfRpc(const report::RpcMeasurements& rpc) {
  StackValues values;
  const results::RpcCounts& counts = rpc.totals.counts;
  values.has_response_times = rpc.response_time.count() > 0;
  if (rpc.offered) {
    values.offered_per_second =
        report::PerSecond(static_cast<double>(rpc.offered->offered_count()),
                          counts.duration_ns());
  }
  values.figures[kRatePosition] = {
      report::PerSecond(static_cast<double>(counts.succeeded_count),
                        counts.duration_ns()),
      {},
      {}};
  AddPercentiles(rpc, values);
  AddTimeParts(rpc.totals, values);
  if (rpc.latency().count() > 0) {
    values.figures[kFailedPosition] = {rpc.latency().failed_share(), {}, {}};
  }
  return values;
}

struct CpuTime {
  double client_ns = 0;
  double server_ns = 0;
};

// Nothing unless every instance had a process of its own, and kept it.
std::optional<CpuTime> CpuOf(const TestResult& result,
                             const std::set<std::string>& clients) {
  CpuTime cpu;
  int count = 0;
  for (const auto& [node, resources] :
       result.resource_usage_logs().node_resources()) {
    for (const auto& [instance, usage] : resources.engine_usages()) {
      const std::string service = instance.substr(0, instance.find('/'));
      (clients.count(service) > 0 ? cpu.client_ns : cpu.server_ns) +=
          1e9 *
          (usage.user_cpu_time_seconds() + usage.system_cpu_time_seconds());
      ++count;
    }
  }
  // Damaged files may contain any number.
  if (count == 0 || count < result.placement().service_endpoints_size() ||
      !std::isfinite(cpu.client_ns + cpu.server_ns)) {
    return std::nullopt;
  }
  return cpu;
}

void AddCpu(const CpuTime& cpu, const Entries& entries, double rpc_count,
            StackValues& values) {
  const auto per_rpc = [&](double ns) {
    return StackFigure{ns / rpc_count, {}, {}};
  };
  values.figures[kCpuPosition] = per_rpc(cpu.client_ns + cpu.server_ns);
  if (entries.clients.empty()) return;
  values.figures[kClientCpuPosition] = per_rpc(cpu.client_ns);
  // Without other services, clients serve one another.
  if (cpu.server_ns > 0) {
    values.figures[kServerCpuPosition] = per_rpc(cpu.server_ns);
  }
}

}  // namespace

std::map<std::string, StackValues> StackValuesOf(const TestResult& result) {
  const Entries entries = EntriesOf(result);
  const report::TestTotals totals = report::AddUp(result);
  std::map<std::string, StackValues> values;
  double rpc_count = 0;
  for (const int index : report::ListRpcs(result)) {
    const std::string name = results::RpcName(result, index);
    if (entries.rpcs.count(name) == 0) continue;
    const report::RpcMeasurements rpc = report::MeasurementsOf(
        result, totals, index, std::numeric_limits<int64_t>::max());
    const results::RpcCounts& counts = rpc.totals.counts;
    rpc_count += static_cast<double>(counts.succeeded_count) +
                 static_cast<double>(counts.failed_count) +
                 static_cast<double>(counts.warmup_count);
    values[name] = ValuesOfRpc(rpc);
  }
  const std::optional<CpuTime> cpu = CpuOf(result, entries.clients);
  if (!cpu || rpc_count == 0) return values;
  for (auto& [name, rpc] : values) AddCpu(*cpu, entries, rpc_count, rpc);
  return values;
}

namespace {

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

StackName StackOfService(const DistributedSystemDescription& test,
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

}  // namespace

StackName StackOf(const DistributedSystemDescription& test) {
  const config::TestNames names(test);
  std::set<std::string> drivers;
  std::set<std::string> settings;
  // The services of each stack are part of it only if there are several.
  std::map<std::string, std::vector<std::string>> services;
  for (const ServiceSpec& service : test.services()) {
    if (config::IsOutside(service)) continue;
    const StackName stack = StackOfService(test, names, service);
    drivers.insert(stack.drivers);
    services[absl::StrCat(stack.drivers, ": ", stack.settings)].push_back(
        service.name());
    settings.insert(stack.settings);
  }
  if (services.size() <= 1) {
    return {absl::StrJoin(drivers, ""), absl::StrJoin(settings, "")};
  }
  std::vector<std::string> by_service;
  for (const auto& [stack, users] : services) {
    by_service.push_back(absl::StrCat(absl::StrJoin(users, ", "), ": ", stack));
  }
  return {absl::StrJoin(drivers, " + "), absl::StrJoin(by_service, "; ")};
}

std::vector<std::string> NameStacks(absl::Span<const report::TestRun> runs) {
  std::vector<StackName> stacks;
  std::map<std::string, std::set<std::string>> settings_of_drivers;
  for (const report::TestRun& run : runs) {
    StackName& stack =
        stacks.emplace_back(StackOf(run.result->traffic_config()));
    stack.drivers = report::MarkedName(stack.drivers, *run.result);
    settings_of_drivers[stack.drivers].insert(stack.settings);
  }
  std::vector<std::string> names;
  for (const StackName& stack : stacks) {
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
