// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Queues on simulated time whose capacity is known from theory.

#ifndef DISTBENCH_PRODUCTS_SEARCH_TESTING_SIMULATED_QUEUE_H_
#define DISTBENCH_PRODUCTS_SEARCH_TESTING_SIMULATED_QUEUE_H_

#include <cstdint>
#include <random>

#include "absl/functional/function_ref.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {

// One server and Poisson arrivals.
enum class QueueKind {
  kExponentialService,  // M/M/1
  kFixedService,        // M/D/1
  kProcessorSharing,    // M/M/1-PS
};

// Times are in seconds, rates per second.
struct SimulatedQueue {
  QueueKind kind = QueueKind::kExponentialService;
  double service_rate = 1;
};

// Simulates the requests that arrive within `seconds`, from an empty queue.
// Visits each of them in the order in which they end.
void Simulate(const SimulatedQueue& queue, double load, double seconds,
              std::mt19937_64& random,
              absl::FunctionRef<void(double arrival, double response)> visit);

// Returns the load at which the mean response time is `limit`. M/M/1 and
// M/M/1-PS: 1 / (service rate - load). M/D/1: the formula of Pollaczek and
// Khinchine. L. Kleinrock, Queueing Systems, Wiley, volume 1, 1975, sections
// 3.2 and 5.6, and volume 2, 1976, section 4.4.
double CapacityForMean(const SimulatedQueue& queue, double limit);

// Returns the load at which a quantile of the response time is `limit`. M/M/1:
// response times are exponential (Kleinrock 1975, section 5.12). M/D/1: A. K.
// Erlang 1909. Requires another kind than kProcessorSharing.
double CapacityForQuantile(const SimulatedQueue& queue, double quantile,
                           double limit);

// A system for searches: a simulated queue, measured as engines measure.

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

#endif  // DISTBENCH_PRODUCTS_SEARCH_TESTING_SIMULATED_QUEUE_H_
