// What must hold of the traffic of every valid test.

#ifndef DISTBENCH_ENGINE_PROPERTY_TRAFFIC_CHECK_H_
#define DISTBENCH_ENGINE_PROPERTY_TRAFFIC_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/traffic_config.pb.h"

namespace distbench {

struct TrafficCheckOptions {
  // Its own limits must end the test. Otherwise its timeout does.
  bool ends_by_itself = false;

  // How often a send queue is full, as a probability.
  double refusal_probability = 0;
  uint64_t seed = 0;
};

struct TrafficCheckResult {
  int64_t rpc_count = 0;
  bool overloaded = false;
  bool timed_out = false;

  // What does not hold, in sentences.
  std::vector<std::string> violations;
};

// Runs a test that CheckTestSequence() returned, over the loopback driver in
// its decorators and on simulated time, to its end, and checks that
// - it ends within a bounded number of turns: by itself, or once it is stopped,
// - then nothing is in flight; every request has been answered once, every call
//   has ended once, and as many were handled as were sent,
// - all of them are in the statistics,
// - no action exceeds its limits, nor an instance max_pending_rpcs.
TrafficCheckResult CheckTraffic(const DistributedSystemDescription& test,
                                const TrafficCheckOptions& options);

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_PROPERTY_TRAFFIC_CHECK_H_
