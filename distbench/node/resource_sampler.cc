#include "distbench/node/resource_sampler.h"

#include <utility>

#include "distbench/base/host_memory.h"
#include "distbench/base/time_units.h"
#include "distbench/node/proc_files.h"

namespace distbench {
namespace {

int64_t CpuNs(const RUsage& usage) {
  return static_cast<int64_t>(
      (usage.user_cpu_time_seconds() + usage.system_cpu_time_seconds()) * 1e9);
}

using Get = int64_t (NetworkCounters::*)() const;
using Set = void (NetworkCounters::*)(int64_t);
constexpr std::pair<Get, Set> kCounters[] = {
    {&NetworkCounters::received_bytes, &NetworkCounters::set_received_bytes},
    {&NetworkCounters::sent_bytes, &NetworkCounters::set_sent_bytes},
    {&NetworkCounters::received_packets,
     &NetworkCounters::set_received_packets},
    {&NetworkCounters::sent_packets, &NetworkCounters::set_sent_packets},
    {&NetworkCounters::dropped_packets, &NetworkCounters::set_dropped_packets},
};

// Computes into += sign * from.
void Add(const NetworkCounters& from, int sign, NetworkCounters& into) {
  for (const auto& [get, set] : kCounters) {
    (into.*set)((into.*get)() + sign * (from.*get)());
  }
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
    Add(counters, 1, (*sample.mutable_network())[name]);
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
  return {.time_ns = options_.clock->MonotonicNs(),
          .host_cpu_ns = ReadHostCpuNs(options_.root),
          .process = options_.process_usage(),
          .network = ReadNetworkCounters(options_.root)};
}

ResourceSample ResourceSampler::Between(const Reading& start,
                                        const Reading& end) const {
  ResourceSample sample;
  sample.set_end_timestamp_ns(options_.clock->UnixNs());
  sample.set_duration_ns(end.time_ns - start.time_ns);
  sample.set_process_cpu_ns(CpuNs(end.process) - CpuNs(start.process));
  sample.set_host_cpu_ns(end.host_cpu_ns - start.host_cpu_ns);
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
    Add(counters, 1, added);
    if (before != start.network.end()) Add(before->second, -1, added);
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
