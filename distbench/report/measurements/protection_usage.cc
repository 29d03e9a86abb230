#include "distbench/report/measurements/protection_usage.h"

#include <algorithm>

#include "distbench/base/saturating_add.h"
#include "distbench/report/measurements/protection_phases.h"

namespace distbench {
namespace {

void AddTo(std::optional<double>& sum, bool is_present, double amount) {
  if (is_present) sum = sum.value_or(0) + amount;
}

void RaiseTo(std::optional<double>& most, bool is_present, double amount) {
  if (is_present) most = std::max(most.value_or(0), amount);
}

void AddGroup(const GroupUse& group, double duration_ns, WorkerUsage& usage) {
  const auto share = [&](int64_t ns) {
    return static_cast<double>(ns) / duration_ns;
  };
  AddTo(usage.cpus, group.has_cpu_ns(), share(group.cpu_ns()));
  AddTo(usage.memory_bytes, group.has_memory_bytes(),
        static_cast<double>(group.memory_bytes()));
  AddTo(usage.swap_bytes, group.has_swap_bytes(),
        static_cast<double>(group.swap_bytes()));
  Pressure& pressure = usage.pressure;
  RaiseTo(pressure.cpu, group.has_some_cpu_pressure_ns(),
          share(group.some_cpu_pressure_ns()));
  RaiseTo(pressure.memory, group.has_some_memory_pressure_ns(),
          share(group.some_memory_pressure_ns()));
  RaiseTo(pressure.io, group.has_some_io_pressure_ns(),
          share(group.some_io_pressure_ns()));
}

void AddHost(const HostCounters& host, double duration_ns, Pressure& pressure) {
  const auto share = [&](int64_t ns) {
    return static_cast<double>(ns) / duration_ns;
  };
  RaiseTo(pressure.cpu, host.has_cpu_pressure_ns(),
          share(host.cpu_pressure_ns()));
  RaiseTo(pressure.memory, host.has_memory_pressure_ns(),
          share(host.memory_pressure_ns()));
  RaiseTo(pressure.io, host.has_io_pressure_ns(), share(host.io_pressure_ns()));
}

void AddSample(const ResourceSample& sample, SecondUsage& usage) {
  const double duration_ns = static_cast<double>(sample.duration_ns());
  for (const auto& [instance, group] : sample.groups()) {
    // The group of the whole node contains the others.
    if (instance.empty()) continue;
    AddGroup(group, duration_ns,
             IsAntagonist(instance) ? usage.antagonist : usage.subject);
  }
  AddHost(sample.host_counters(), duration_ns, usage.host_pressure);
}

}  // namespace

std::map<int64_t, SecondUsage> UsageBySecond(const TestResult& result,
                                             int64_t interval_ns) {
  std::map<int64_t, SecondUsage> usage;
  for (const auto& [name, node] :
       result.resource_usage_logs().node_resources()) {
    for (const ResourceSample& sample : node.samples()) {
      if (sample.duration_ns() <= 0) continue;
      const int64_t middle_ns = SaturatingSubtract(sample.end_timestamp_ns(),
                                                   sample.duration_ns() / 2);
      if (middle_ns < 0) continue;
      AddSample(sample, usage[middle_ns / interval_ns]);
    }
  }
  return usage;
}

}  // namespace distbench
