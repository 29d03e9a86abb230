// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Synthetic results for tests, of any size and reproducible.

#ifndef DISTBENCH_REPORT_TESTING_EXAMPLE_RESULT_H_
#define DISTBENCH_REPORT_TESTING_EXAMPLE_RESULT_H_

#include <cstdint>
#include <string>

#include "proto/results.pb.h"

namespace distbench::report {

struct ExampleOptions {
  std::string name = "example";
  int clients = 2;
  int servers = 3;
  int rpcs = 2;
  int nodes = 2;
  int seconds = 20;

  // RPCs of each kind from each client to each server in each second.
  int count = 50;
  uint64_t seed = 1;

  // A factor that multiplies all latencies.
  double slowness = 1;
};

// Makes the result of an open loop with log-normal latencies. It contains
// everything that a result may hold except samples.
TestResult MakeExampleResult(const ExampleOptions& options);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TESTING_EXAMPLE_RESULT_H_
