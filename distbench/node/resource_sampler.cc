#include "distbench/node/resource_sampler.h"

#include <algorithm>
#include <utility>

#include "distbench/base/memory.h"
#include "distbench/base/time_units.h"
#include "distbench/node/proc_files.h"
#include "distbench/results/counters.h"

namespace distbench {
namespace {

int64_t CpuNs(const RUsage& usage) {
  return static_cast<int64_t>(
      (usage.user_cpu_time_seconds() + usage.system_cpu_time_seconds()) * 1e9);
}

int64_t BusiestCpuNs(const std::map<std::string, HostCounters>& start,
                     const std::map<std::string, HostCounters>& end) {
  int64_t busiest_ns = 0;
  for (const auto& [name, counters] : end) {
    const auto before = start.find(name);
    if (before == start.end()) continue;
    HostCounters counted = counters;
    SubtractCounters(before->second, counted);
    busiest_ns = std::max(busiest_ns, BusyCpuNs(counted));
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

// Merges an interval with the next one.
void Append(const ResourceSample& later, ResourceSample& sample) {
  sample.set_end_timestamp_ns(later.end_timestamp_ns());
  sample.set_duration_ns(sample.duration_ns() + later.duration_ns());
  sample.set_process_cpu_ns(sample.process_cpu_ns() + later.process_cpu_ns());
  sample.set_host_cpu_ns(sample.host_cpu_ns() + later.host_cpu_ns());
  sample.set_resident_bytes(later.resident_bytes());
  sample.set_host_available_memory_bytes(later.host_available_memory_bytes());
  sample.set_voluntary_context_switches(sample.voluntary_context_switches() +
                                        later.voluntary_context_switches());
  sample.set_involuntary_context_switches(
      sample.involuntary_context_switches() +
      later.involuntary_context_switches());
  for (const auto& [name, counters] : later.network()) {
    AddCounters(counters, (*sample.mutable_network())[name]);
  }
  AddCounters(later.host_counters(), *sample.mutable_host_counters());
  if (later.has_busiest_cpu_ns()) {
    sample.set_busiest_cpu_ns(sample.busiest_cpu_ns() + later.busiest_cpu_ns());
  }
  if (later.has_run_queue_delay_ns()) {
    sample.set_run_queue_delay_ns(sample.run_queue_delay_ns() +
                                  later.run_queue_delay_ns());
  }
}

}  // namespace

void ResourceSampler::Start() {
  samples_.clear();
  interval_ns_ = kNsPerSecond;
  last_ = Read();
}

void ResourceSampler::SampleIfLongerThan(double duration_ns) {
  const int64_t since_ns = options_.clock->MonotonicNs() - last_.time_ns;
  if (static_cast<double>(since_ns) < duration_ns || since_ns <= 0) return;
  Reading now = Read();
  samples_.push_back(Between(last_, now));
  last_ = std::move(now);
  if (static_cast<int>(samples_.size()) >= options_.max_samples) Halve();
}

ResourceSampler::Reading ResourceSampler::Read() const {
  Reading reading = {
      .time_ns = options_.clock->MonotonicNs(),
      .host = ReadOtherCounters(options_.root),
      .cpus = ReadCpuTimes(options_.root),
      .run_queue_delays_ns =
          ReadRunQueueDelaysNs(options_.root, options_.engine_processes()),
      .process = options_.process_usage(),
      .network = ReadNetworkCounters(options_.root)};
  if (const auto all = reading.cpus.extract("cpu"); !all.empty()) {
    AddCounters(all.mapped(), reading.host);
  }
  return reading;
}

ResourceSample ResourceSampler::Between(const Reading& start,
                                        const Reading& end) const {
  ResourceSample sample;
  sample.set_end_timestamp_ns(options_.clock->UnixNs());
  sample.set_duration_ns(end.time_ns - start.time_ns);
  sample.set_process_cpu_ns(CpuNs(end.process) - CpuNs(start.process));
  HostCounters& host = *sample.mutable_host_counters();
  host = end.host;
  SubtractCounters(start.host, host);
  sample.set_host_cpu_ns(BusyCpuNs(host));
  if (!end.cpus.empty()) {
    sample.set_busiest_cpu_ns(BusiestCpuNs(start.cpus, end.cpus));
  }
  if (!end.run_queue_delays_ns.empty()) {
    sample.set_run_queue_delay_ns(
        DelayNs(start.run_queue_delays_ns, end.run_queue_delays_ns));
  }
  sample.set_resident_bytes(ReadResidentBytes(options_.root) +
                            options_.engine_bytes());
  sample.set_host_available_memory_bytes(
      ReadMemInfoBytes(options_.root, "MemAvailable"));
  sample.set_voluntary_context_switches(
      end.process.voluntary_context_switches() -
      start.process.voluntary_context_switches());
  sample.set_involuntary_context_switches(
      end.process.involuntary_context_switches() -
      start.process.involuntary_context_switches());
  for (const auto& [name, counters] : end.network) {
    const auto before = start.network.find(name);
    // The counters of a new device began at zero.
    NetworkCounters& added = (*sample.mutable_network())[name];
    added = counters;
    if (before != start.network.end()) SubtractCounters(before->second, added);
  }
  return sample;
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

}  // namespace distbench
