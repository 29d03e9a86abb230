// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/resource_sampler.h"

#include <algorithm>
#include <utility>

#include "distbench/base/memory.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"
#include "distbench/node/proc_files.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/resource_usage.h"

namespace distbench::node {
namespace {

int64_t CpuNs(const RUsage& usage) {
  return static_cast<int64_t>(
      (usage.user_cpu_time_seconds() + usage.system_cpu_time_seconds()) * 1e9);
}

// What each CPU did in between, if it was online at both times.
std::map<int, HostCounters> Counted(const std::map<int, HostCounters>& start,
                                    const std::map<int, HostCounters>& end) {
  std::map<int, HostCounters> counted;
  for (const auto& [cpu, counters] : end) {
    const auto before = start.find(cpu);
    if (before == start.end()) continue;
    counted[cpu] = counters;
    results::SubtractCounters(before->second, counted[cpu]);
  }
  return counted;
}

int64_t BusiestCpuNs(const std::map<int, HostCounters>& counted) {
  int64_t busiest_ns = 0;
  for (const auto& [cpu, counters] : counted) {
    busiest_ns = std::max(busiest_ns, results::BusyCpuNs(counters));
  }
  return busiest_ns;
}

// A thread that is new has waited only since then.
int64_t DelayNs(const std::map<int, int64_t>& start,
                const std::map<int, int64_t>& end) {
  int64_t delay_ns = 0;
  for (const auto& [thread, thread_delay_ns] : end) {
    const auto before = start.find(thread);
    const int64_t before_ns = before == start.end() ? 0 : before->second;
    // Less, if another thread has got the number.
    delay_ns += std::max<int64_t>(thread_delay_ns - before_ns, 0);
  }
  return delay_ns;
}

// What a sample has of its end.
constexpr int kLevels[] = {
    ResourceSample::kEndTimestampNsFieldNumber,
    ResourceSample::kResidentBytesFieldNumber,
    ResourceSample::kHostAvailableMemoryBytesFieldNumber};

// Both intervals are equally long.
void Append(const DataConnections& later, DataConnections& sum) {
  sum.set_sent_segments(sum.sent_segments() + later.sent_segments());
  sum.set_retransmitted_segments(sum.retransmitted_segments() +
                                 later.retransmitted_segments());
  sum.set_congestion_marked_segments(sum.congestion_marked_segments() +
                                     later.congestion_marked_segments());
  if (later.has_mean_rtt_ns()) {
    sum.set_mean_rtt_ns(sum.has_mean_rtt_ns()
                            ? (sum.mean_rtt_ns() + later.mean_rtt_ns()) / 2
                            : later.mean_rtt_ns());
  }
  sum.set_max_rtt_ns(std::max(sum.max_rtt_ns(), later.max_rtt_ns()));
  sum.set_connection_count(
      std::max(sum.connection_count(), later.connection_count()));
}

// Merges an interval with the next one, which is as long.
void Append(const ResourceSample& later, ResourceSample& sample) {
  results::AddCounters(later, sample, kLevels);
  for (const auto& [name, counters] : later.network()) {
    results::AddCounters(counters, (*sample.mutable_network())[name]);
  }
  results::AddCounters(later.host_counters(), *sample.mutable_host_counters());
  if (later.has_data_connections()) {
    Append(later.data_connections(), *sample.mutable_data_connections());
  }
  if (later.has_hardware_counters()) {
    results::AddCounters(later.hardware_counters(),
                         *sample.mutable_hardware_counters());
  }
  for (const auto& [domain, used_uj] : later.energy_uj()) {
    base::SaturatingAddTo((*sample.mutable_energy_uj())[domain], used_uj);
  }
  sample.clear_cpus();
  for (const auto& [name, use] : later.groups()) {
    results::AppendUse(use, (*sample.mutable_groups())[name]);
  }
}

}  // namespace

void ResourceSampler::Start() {
  samples_.clear();
  cpu_use_count_ = 0;
  group_use_count_ = 0;
  interval_ns_ = base::kNsPerSecond;
  last_ = Read();
}

void ResourceSampler::SampleIfLongerThan(double duration_ns) {
  const int64_t since_ns = options_.clock->MonotonicNs() - last_.time_ns;
  if (static_cast<double>(since_ns) < duration_ns || since_ns <= 0) return;
  Reading now = Read();
  samples_.push_back(Between(last_, now));
  if (auto connections = options_.data_connections()) {
    *samples_.back().mutable_data_connections() = *std::move(connections);
  }
  last_ = std::move(now);
  if (static_cast<int>(samples_.size()) >= options_.max_samples) Halve();
}

ResourceSampler::Reading ResourceSampler::Read() const {
  const EngineProcesses engines = options_.engines();
  CpuTimes cpu_times = ReadCpuTimes(options_.root);
  Reading reading = {
      .time_ns = options_.clock->MonotonicNs(),
      .cpus = std::move(cpu_times.by_cpu),
      .run_queue_delays_ns = ReadRunQueueDelaysNs(options_.root, engines),
      .energy = ReadEnergy(options_.root).value_or(EnergyCounters())};
  ResourceSample& totals = reading.totals;
  const RUsage usage = options_.process_usage();
  totals.set_process_cpu_ns(CpuNs(usage));
  totals.set_voluntary_context_switches(usage.voluntary_context_switches());
  totals.set_involuntary_context_switches(usage.involuntary_context_switches());
  totals.set_resident_bytes(ReadNodeBytes(options_.root, engines));
  totals.set_host_available_memory_bytes(
      base::ReadMemInfoBytes(options_.root, "MemAvailable"));
  *totals.mutable_host_counters() = ReadOtherCounters(options_.root);
  results::AddCounters(cpu_times.all, *totals.mutable_host_counters());
  *totals.mutable_hardware_counters() = options_.hardware_counters();
  for (auto& [name, counters] : ReadNetworkCounters(options_.root)) {
    (*totals.mutable_network())[name] = std::move(counters);
  }
  if (group_use_count_ < options_.max_group_uses) {
    for (auto& [name, use] : options_.group_use()) {
      (*totals.mutable_groups())[name] = std::move(use);
    }
  }
  return reading;
}

ResourceSample ResourceSampler::Between(const Reading& start,
                                        const Reading& end) {
  ResourceSample sample = end.totals;
  results::SubtractCounters(start.totals, sample, kLevels);
  sample.set_end_timestamp_ns(options_.clock->UnixNs());
  sample.set_duration_ns(end.time_ns - start.time_ns);
  HostCounters& host = *sample.mutable_host_counters();
  results::SubtractCounters(start.totals.host_counters(), host);
  sample.set_host_cpu_ns(results::BusyCpuNs(host));
  if (!end.cpus.empty()) {
    const auto counted = Counted(start.cpus, end.cpus);
    sample.set_busiest_cpu_ns(BusiestCpuNs(counted));
    AddCpuUses(counted, sample);
  }
  if (!end.run_queue_delays_ns.empty()) {
    sample.set_run_queue_delay_ns(
        DelayNs(start.run_queue_delays_ns, end.run_queue_delays_ns));
  }
  HardwareCounters& hardware = *sample.mutable_hardware_counters();
  results::SubtractCounters(start.totals.hardware_counters(), hardware);
  if (hardware.ByteSizeLong() == 0) sample.clear_hardware_counters();
  for (const auto& [domain, used_uj] :
       EnergyBetween(start.energy, end.energy)) {
    (*sample.mutable_energy_uj())[domain] = used_uj;
  }
  for (auto& [name, counters] : *sample.mutable_network()) {
    const auto before = start.totals.network().find(name);
    // The counters of a new device began at zero.
    if (before != start.totals.network().end())
      results::SubtractCounters(before->second, counters);
  }
  SetGroupUses(start, end, sample);
  return sample;
}

void ResourceSampler::SetGroupUses(const Reading& start, const Reading& end,
                                   ResourceSample& sample) {
  sample.clear_groups();
  for (const auto& [name, use] : end.totals.groups()) {
    const auto before = start.totals.groups().find(name);
    if (before == start.totals.groups().end()) continue;
    (*sample.mutable_groups())[name] = results::UseBetween(before->second, use);
    ++group_use_count_;
  }
}

void ResourceSampler::AddCpuUses(const std::map<int, HostCounters>& counted,
                                 ResourceSample& sample) {
  cpu_use_count_ += counted.size();
  if (cpu_use_count_ > options_.max_cpu_uses) return;
  for (const auto& [number, counters] : counted) {
    CpuUse& use = *sample.add_cpus();
    use.set_cpu(number);
    use.set_user_ns(counters.user_cpu_ns());
    use.set_system_ns(counters.system_cpu_ns());
    use.set_irq_ns(counters.irq_cpu_ns());
    use.set_softirq_ns(counters.softirq_cpu_ns());
    use.set_steal_ns(counters.steal_cpu_ns());
    use.set_idle_ns(counters.idle_cpu_ns());
    use.set_iowait_ns(counters.iowait_cpu_ns());
    use.set_nice_ns(counters.nice_cpu_ns());
  }
}

void ResourceSampler::Halve() {
  interval_ns_ *= 2;
  std::vector<ResourceSample> halved;
  for (size_t i = 0; i < samples_.size(); i += 2) {
    halved.push_back(std::move(samples_[i]));
    if (i + 1 < samples_.size()) Append(samples_[i + 1], halved.back());
  }
  samples_ = std::move(halved);
}

}  // namespace distbench::node
