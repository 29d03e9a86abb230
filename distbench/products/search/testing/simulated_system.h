// A system for searches: a simulated queue, measured as engines measure.

#ifndef DISTBENCH_PRODUCTS_SEARCH_TESTING_SIMULATED_SYSTEM_H_
#define DISTBENCH_PRODUCTS_SEARCH_TESTING_SIMULATED_SYSTEM_H_

#include <cstdint>
#include <random>

#include "distbench/products/search/testing/simulated_queue.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {

// A test of one RPC, "query", which "client" sends to "server" in one open
// loop, once in each interval.
inline constexpr int64_t kSimulatedIntervalNs = 4'000'000;
DistributedSystemDescription SimulatedTest(
    int64_t interval_ns = kSimulatedIntervalNs);

// Runs probes of SimulatedTest(), each from an empty queue and with other
// random numbers. RPCs fail independently with the given probability.
class SimulatedSystem {
 public:
  SimulatedSystem(const SimulatedQueue& queue, uint64_t seed,
                  double failure_share = 0)
      : queue_(queue), random_(seed), failure_share_(failure_share) {}

  TestResult Run(const DistributedSystemDescription& test);

 private:
  const SimulatedQueue queue_;
  std::mt19937_64 random_;
  const double failure_share_;
};

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_TESTING_SIMULATED_SYSTEM_H_
