// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Queues of theory as tests of the product: hosts, costs and traffic in which
// one host, or an activity, is the queue.
//
//   client ── Poisson arrivals, no costs ──▶ server: the cost of receiving is
//                                            the service time, 1 ms on average

#ifndef DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_TESTING_QUEUES_H_
#define DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_TESTING_QUEUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "distbench/products/simulation/cluster/testing/theory.h"

namespace distbench::simulation {

struct SimulatedQueue {
  enum class Service { kExponential, kFixed, kLognormal };

  std::string name;
  Service service = Service::kExponential;

  // Of the server's host.
  int cpus = 1;

  // Instances that share the CPUs, one request at a time each; requests go to
  // random ones. 1: requests queue in the instance.
  int instances = 1;
  bool shares_cpus = false;  // by processor sharing; otherwise FIFO
};

// The queues that are compared with theory.
std::vector<SimulatedQueue> QueuesOfTheory();
QueueTheory TheoryOf(const SimulatedQueue& queue, double load);

struct QueueFigures {
  double rate = 0;  // per service time and server: the load
  QueueTheory response;
};

// Simulates `count` requests.
QueueFigures Simulate(const SimulatedQueue& queue, double load, int64_t count,
                      uint64_t seed);

// Simulates `count` requests that are sent to as many M/M/1 queues at once;
// returns the mean time until the last of these has answered, in service times.
double SimulateForkJoin(int servers, double load, int64_t count, uint64_t seed);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_TESTING_QUEUES_H_
