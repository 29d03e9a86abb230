// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/measures/resources.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "distbench/base/saturating_add.h"
#include "distbench/products/protection/measures/phases.h"
#include "distbench/products/protection/measures/work.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/resource_usage.h"

namespace distbench::protection {
namespace {

// The key of the whole group of a node manager in ResourceSample.groups.
constexpr char kWholeNode[] = "";

// The nodes that the antagonist shares with the subject; all nodes if there are
// none.
std::vector<const NodeResources*> SharedNodes(const TestResult& result) {
  std::set<std::string> antagonist_nodes;
  std::set<std::string> subject_nodes;
  for (const auto& [instance, endpoint] :
       result.placement().service_endpoints()) {
    (IsAntagonist(instance) ? antagonist_nodes : subject_nodes)
        .insert(endpoint.node_alias());
  }
  std::vector<const NodeResources*> all;
  std::vector<const NodeResources*> shared;
  for (const auto& [name, node] :
       result.resource_usage_logs().node_resources()) {
    all.push_back(&node);
    if (antagonist_nodes.contains(name) && subject_nodes.contains(name)) {
      shared.push_back(&node);
    }
  }
  return shared.empty() ? all : shared;
}

// The samples that lie within the span as a whole.
std::vector<const ResourceSample*> SamplesWithin(const NodeResources& node,
                                                 const TimeSpan& span) {
  std::vector<const ResourceSample*> samples;
  for (const ResourceSample& sample : node.samples()) {
    if (sample.duration_ns() <= 0) continue;
    const int64_t start_ns = base::SaturatingSubtract(sample.end_timestamp_ns(),
                                                      sample.duration_ns());
    if (start_ns >= span.start_ns && sample.end_timestamp_ns() <= span.end_ns) {
      samples.push_back(&sample);
    }
  }
  return samples;
}

double DurationNs(const std::vector<const ResourceSample*>& samples) {
  double sum = 0;
  for (const ResourceSample* sample : samples) {
    sum += static_cast<double>(sample->duration_ns());
  }
  return sum;
}

// CPU time of a sample in which the node's host was idle, as far as the node
// may use its CPUs; absent if the host does not count it.
std::optional<double> UnusedCpuNs(const HostFacts& host,
                                  const ResourceSample& sample) {
  const HostCounters& counters = sample.host_counters();
  if (!counters.has_idle_cpu_ns()) return std::nullopt;
  const double idle_ns = static_cast<double>(counters.idle_cpu_ns()) +
                         static_cast<double>(counters.iowait_cpu_ns());
  if (!host.has_cpu_count()) return idle_ns;
  const double allowed_ns = static_cast<double>(host.cpu_count()) *
                            static_cast<double>(sample.duration_ns());
  return std::min(idle_ns,
                  allowed_ns - static_cast<double>(sample.process_cpu_ns()));
}

// Unused time counts once for each host, however many nodes it has.
class CpuUseSum {
 public:
  void Add(const NodeResources& node, const TimeSpan& span) {
    const std::vector<const ResourceSample*> samples =
        SamplesWithin(node, span);
    const double duration_ns = DurationNs(samples);
    if (duration_ns == 0) return;
    double used_ns = 0;
    double unused_ns = 0;
    for (const ResourceSample* sample : samples) {
      used_ns += static_cast<double>(sample->process_cpu_ns());
      const std::optional<double> unused = UnusedCpuNs(node.host(), *sample);
      unused_ns += unused.value_or(0);
      knows_unused_ = knows_unused_ && unused.has_value();
    }
    is_known_ = true;
    used_ += used_ns / duration_ns;
    double& host_unused = unused_by_host_[node.host().hostname()];
    host_unused = std::max(host_unused, unused_ns / duration_ns);
  }

  std::optional<ResourceUse> Use() const {
    if (!is_known_) return std::nullopt;
    ResourceUse use;
    use.used = std::max(0.0, used_);
    if (!knows_unused_) return use;
    double unused = 0;
    for (const auto& [host, amount] : unused_by_host_) unused += amount;
    use.unused = unused;
    return use;
  }

 private:
  bool is_known_ = false;
  bool knows_unused_ = true;
  double used_ = 0;
  std::map<std::string, double> unused_by_host_;
};

std::optional<ResourceUse> CpuUseOf(const TestResult& result,
                                    const TimeSpan& span) {
  CpuUseSum sum;
  for (const NodeResources* node : SharedNodes(result)) sum.Add(*node, span);
  return sum.Use();
}

bool CountsDevices(const GroupUse& group) {
  return group.has_read_bytes() || group.has_written_bytes();
}

std::optional<ResourceUse> DeviceUseOf(const TestResult& result,
                                       const TimeSpan& span) {
  std::optional<ResourceUse> use;
  for (const NodeResources* node : SharedNodes(result)) {
    double bytes = 0;
    std::vector<const ResourceSample*> counted;
    for (const ResourceSample* sample : SamplesWithin(*node, span)) {
      const auto group = sample->groups().find(kWholeNode);
      if (group == sample->groups().end() || !CountsDevices(group->second)) {
        continue;
      }
      counted.push_back(sample);
      bytes += static_cast<double>(group->second.read_bytes()) +
               static_cast<double>(group->second.written_bytes());
    }
    if (counted.empty()) continue;
    if (!use) use.emplace();
    use->used += std::max(0.0, bytes) * 1e9 / DurationNs(counted);
  }
  return use;
}

// Takes the series, because both phases need them.
std::optional<ResourceUse> ActivityUseOf(const WorkSeries& subject,
                                         const WorkSeries& antagonist,
                                         const TimeSpan& span) {
  const std::optional<WorkRate> subject_rate = MeanRate(subject, span);
  const std::optional<WorkRate> antagonist_rate = MeanRate(antagonist, span);
  if (!subject_rate && !antagonist_rate) return std::nullopt;
  ResourceUse use;
  use.used = subject_rate.value_or(WorkRate()).bytes +
             antagonist_rate.value_or(WorkRate()).bytes;
  return use;
}

// The mean over the runs in which the phase was recorded.
std::optional<ResourceUse> MeanUse(
    absl::Span<const RunUses> runs, size_t resource_index,
    std::optional<ResourceUse> PhaseUses::*phase) {
  ResourceUse sum;
  double unused = 0;
  bool knows_unused = true;
  double count = 0;
  for (const RunUses& run : runs) {
    const std::optional<ResourceUse>& use = run[resource_index].*phase;
    if (!use) continue;
    ++count;
    sum.used += use->used;
    unused += use->unused.value_or(0);
    knows_unused = knows_unused && use->unused.has_value();
  }
  if (count == 0) return std::nullopt;
  sum.used /= count;
  if (knows_unused) sum.unused = unused / count;
  return sum;
}

// Why the work of a cell cannot be compared; empty if it can.
std::string ReasonAgainst(WorkResource resource,
                          const std::optional<ResourceUse>& subject,
                          const std::optional<ResourceUse>& together,
                          absl::Span<const RunUses> alone_runs,
                          const std::optional<ResourceUse>& antagonist) {
  if (alone_runs.empty()) return "there is no run of the antagonist alone";
  if (!subject || !together || !antagonist) {
    return resource == WorkResource::kDeviceBytes
               ? "the nodes have no control groups that count it"
               : "it was not recorded in all phases";
  }
  if (antagonist->used == 0) return "the antagonist alone did not use it";
  if (resource == WorkResource::kActivityBytes && subject->used == 0) {
    return "the subject alone did not use it";
  }
  return "";
}

}  // namespace

absl::string_view WorkResourceName(WorkResource resource) {
  switch (resource) {
    case WorkResource::kCpuTime:
      return "cpu_time";
    case WorkResource::kDeviceBytes:
      return "device_bytes";
    case WorkResource::kActivityBytes:
      break;
  }
  return "activity_bytes";
}

RunUses UsesOf(const TestResult& result) {
  RunUses uses;
  const absl::StatusOr<ProtectionPhases> phases = WorkingPhasesOf(result);
  if (!phases.ok()) return uses;
  const WorkSeries subject = CollectWork(result, WorkRole::kSubject);
  const WorkSeries antagonist = CollectWork(result, WorkRole::kAntagonist);
  const bool knows_activities = !LostSubject(result) && !LostAntagonist(result);
  const auto use = [&](WorkResource resource,
                       const TimeSpan& span) -> std::optional<ResourceUse> {
    switch (resource) {
      case WorkResource::kCpuTime:
        return CpuUseOf(result, span);
      case WorkResource::kDeviceBytes:
        return DeviceUseOf(result, span);
      case WorkResource::kActivityBytes:
        break;
    }
    if (!knows_activities) return std::nullopt;
    return ActivityUseOf(subject, antagonist, span);
  };
  for (size_t i = 0; i < kWorkResources.size(); ++i) {
    uses[i] = {.baseline = use(kWorkResources[i], phases->baseline),
               .interference = use(kWorkResources[i], phases->interference)};
  }
  return uses;
}

double MostUsed(absl::Span<const RunUses> runs, size_t resource_index) {
  double most = 0;
  for (const auto phase : {&PhaseUses::baseline, &PhaseUses::interference}) {
    const std::optional<ResourceUse> use = MeanUse(runs, resource_index, phase);
    if (use) most = std::max(most, use->used);
  }
  return most;
}

WorkConservation ConservationOf(absl::Span<const RunUses> runs,
                                absl::Span<const RunUses> antagonist_alone,
                                size_t resource_index, double most) {
  WorkConservation work;
  work.resource = kWorkResources[resource_index];
  const auto subject = MeanUse(runs, resource_index, &PhaseUses::baseline);
  const auto together = MeanUse(runs, resource_index, &PhaseUses::interference);
  const auto antagonist =
      MeanUse(antagonist_alone, resource_index, &PhaseUses::interference);
  work.reason = ReasonAgainst(work.resource, subject, together,
                              antagonist_alone, antagonist);
  if (!work.reason.empty()) return work;
  work.subject_alone = subject->used;
  work.antagonist_alone = antagonist->used;
  work.together = together->used;
  const double lost =
      std::max(0.0, work.subject_alone + work.antagonist_alone - work.together);
  const double unused =
      std::max(0.0, together->unused.value_or(most - work.together));
  work.possible = work.together + std::min(lost, unused);
  if (work.possible > 0) {
    work.share = work.together / work.possible;
  } else {
    work.reason = "nothing of it was used or left";
  }
  return work;
}

const WorkConservation* MainConservation(
    absl::Span<const WorkConservation> all) {
  const WorkConservation* main = nullptr;
  double largest = -1;
  for (const WorkConservation& work : all) {
    if (!work.share) continue;
    const double share =
        work.antagonist_alone / (work.antagonist_alone + work.subject_alone);
    if (share <= largest) continue;
    largest = share;
    main = &work;
  }
  return main;
}

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
