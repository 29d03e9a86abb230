#include "distbench/products/protection/measures/usage.h"

#include <algorithm>
#include <string>

#include "distbench/base/saturating_add.h"
#include "distbench/products/protection/measures/phases.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/resource_usage.h"

namespace distbench::protection {
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

// All samples of one node in an interval. There may be several: intervals are
// wide if memory was used up, and samples do not begin with seconds.
struct NodeUse {
  double duration_ns = 0;
  HostCounters host;
  std::map<std::string, GroupUse> groups;
};

void Append(const ResourceSample& later, NodeUse& sum) {
  sum.duration_ns += static_cast<double>(later.duration_ns());
  results::AddCounters(later.host_counters(), sum.host);
  for (const auto& [instance, group] : later.groups()) {
    results::AppendUse(group, sum.groups[instance]);
  }
}

std::map<int64_t, NodeUse> UseByInterval(const NodeResources& node,
                                         int64_t interval_ns) {
  std::map<int64_t, NodeUse> uses;
  for (const ResourceSample& sample : node.samples()) {
    if (sample.duration_ns() <= 0) continue;
    const int64_t middle_ns = base::SaturatingSubtract(
        sample.end_timestamp_ns(), sample.duration_ns() / 2);
    if (middle_ns < 0) continue;
    Append(sample, uses[middle_ns / interval_ns]);
  }
  return uses;
}

void AddNode(const NodeUse& node, SecondUsage& usage) {
  for (const auto& [instance, group] : node.groups) {
    // The group of the whole node contains the others.
    if (instance.empty()) continue;
    AddGroup(group, node.duration_ns,
             IsAntagonist(instance) ? usage.antagonist : usage.subject);
  }
  AddHost(node.host, node.duration_ns, usage.host_pressure);
}

}  // namespace

std::map<int64_t, SecondUsage> UsageBySecond(const TestResult& result,
                                             int64_t interval_ns) {
  std::map<int64_t, SecondUsage> usage;
  for (const auto& [name, node] :
       result.resource_usage_logs().node_resources()) {
    for (const auto& [index, use] : UseByInterval(node, interval_ns)) {
      AddNode(use, usage[index]);
    }
  }
  return usage;
}

}  // namespace distbench::protection
