// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Samples how busy a node and its host are during a test.

#ifndef DISTBENCH_NODE_RESOURCE_SAMPLER_H_
#define DISTBENCH_NODE_RESOURCE_SAMPLER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/node/proc_files.h"
#include "distbench/results/resource_usage.h"
#include "proto/results.pb.h"

namespace distbench::node {

// Not thread-safe.
class ResourceSampler {
 public:
  struct Options {
    // The source of durations and time stamps. Must outlive the sampler.
    const base::Clock* clock = &base::RealClock();

    // The parent of /proc; empty: the real one.
    std::string root;

    // Usage of this process including its engines, and those.
    std::function<RUsage()> process_usage = results::ProcessUsage;
    std::function<EngineProcesses()> engines = [] { return EngineProcesses(); };

    // Totals of hardware events of the host; empty if they are not counted.
    std::function<HardwareCounters()> hardware_counters = [] {
      return HardwareCounters();
    };

    // Of the data connections since the previous call, if it is known.
    std::function<std::optional<DataConnections>()> data_connections = [] {
      return std::nullopt;
    };

    // What the control groups of the test have used so far, as in
    // ResourceSample.groups; empty without groups.
    std::function<std::map<std::string, GroupUse>()> group_use = [] {
      return std::map<std::string, GroupUse>();
    };

    // At this number of samples, neighbours are merged and intervals become
    // twice as long, so that memory is bounded.
    int max_samples = 3600;

    // After this number of intervals of single CPUs, samples only have those of
    // all CPUs together.
    int64_t max_cpu_uses = 65'536;

    // Same for intervals of single groups, which are then no longer read.
    int64_t max_group_uses = 65'536;
  };

  explicit ResourceSampler(Options options) : options_(std::move(options)) {}

  // Begins the first interval, and discards earlier ones.
  void Start();

  // Call Sample() once a second, and Finish() at the end. They end an interval
  // and begin the next one, if the interval is long enough. Takes some 200 us,
  // and 10 us for each thread of the node's processes.
  void Sample() { SampleIfLongerThan(0.9 * static_cast<double>(interval_ns_)); }
  void Finish() { SampleIfLongerThan(0.1 * static_cast<double>(interval_ns_)); }

  // Ordered by time.
  const std::vector<ResourceSample>& samples() const { return samples_; }

 private:
  struct Reading {
    int64_t time_ns = 0;  // monotonic

    // Totals since the host or the process started, and what is true now.
    ResourceSample totals;
    std::map<int, HostCounters> cpus;
    std::map<int, int64_t> run_queue_delays_ns;  // by thread
    EnergyCounters energy;
  };

  Reading Read() const;
  void SampleIfLongerThan(double duration_ns);
  ResourceSample Between(const Reading& start, const Reading& end);
  void AddCpuUses(const std::map<int, HostCounters>& counted,
                  ResourceSample& sample);
  void SetGroupUses(const Reading& start, const Reading& end,
                    ResourceSample& sample);
  void Halve();

  const Options options_;
  int64_t interval_ns_ = 0;
  Reading last_;
  std::vector<ResourceSample> samples_;
  int64_t cpu_use_count_ = 0;
  int64_t group_use_count_ = 0;
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_RESOURCE_SAMPLER_H_
