// How busy a node and its host are while a test runs.

#ifndef DISTBENCH_NODE_RESOURCE_SAMPLER_H_
#define DISTBENCH_NODE_RESOURCE_SAMPLER_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/results/resource_usage.h"
#include "proto/results.pb.h"

namespace distbench {

// Not thread-safe.
class ResourceSampler {
 public:
  struct Options {
    // Gives durations, and the time stamps of samples. Must outlive the
    // sampler.
    const Clock* clock = &RealClock();

    // Where /proc is found; empty: at its place.
    std::string root;

    // Of this process, with its engine processes; and of those, the private
    // memory and the ids.
    std::function<RUsage()> process_usage = ProcessUsage;
    std::function<int64_t()> engine_bytes = [] { return 0; };
    std::function<std::set<pid_t>()> engine_processes = [] {
      return std::set<pid_t>();
    };

    // When there are as many samples, neighbours are put together, and from
    // then on intervals are twice as long: memory is bounded.
    int max_samples = 3600;
  };

  explicit ResourceSampler(Options options) : options_(std::move(options)) {}

  // Begins the first interval, and forgets earlier ones.
  void Start();

  // To be called once a second, and at the end. Ends an interval and begins the
  // next one, if the interval is as long as it should be. Costs some 200 us,
  // and 10 us for each thread of the node's processes.
  void Sample() { SampleIfLongerThan(0.9 * static_cast<double>(interval_ns_)); }
  void Finish() { SampleIfLongerThan(0.1 * static_cast<double>(interval_ns_)); }

  // In order of time.
  const std::vector<ResourceSample>& samples() const { return samples_; }

 private:
  // Totals since the host or the process has started.
  struct Reading {
    int64_t time_ns = 0;  // monotonic
    HostCounters host;
    std::map<std::string, HostCounters> cpus;
    std::map<int, int64_t> run_queue_delays_ns;  // by thread
    RUsage process;
    std::map<std::string, NetworkCounters> network;
  };

  Reading Read() const;
  void SampleIfLongerThan(double duration_ns);
  ResourceSample Between(const Reading& start, const Reading& end) const;
  void Halve();

  const Options options_;
  int64_t interval_ns_ = 0;
  Reading last_;
  std::vector<ResourceSample> samples_;
};

}  // namespace distbench

#endif  // DISTBENCH_NODE_RESOURCE_SAMPLER_H_
