// Made-up results for tests: as large as wanted, and the same each time.

#ifndef DISTBENCH_REPORT_TESTING_EXAMPLE_RESULT_H_
#define DISTBENCH_REPORT_TESTING_EXAMPLE_RESULT_H_

#include <cstdint>
#include <string>

#include "proto/results.pb.h"

namespace distbench {

struct ExampleOptions {
  std::string name = "example";
  int clients = 2;
  int servers = 3;
  int rpcs = 2;
  int seconds = 20;

  // Of each RPC from each client to each server in each second.
  int count = 50;
  uint64_t seed = 1;

  // What latencies are multiplied by.
  double slowness = 1;
};

// An open loop whose latencies are log-normal, with all that a result may hold
// but samples.
TestResult MakeExampleResult(const ExampleOptions& options);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_TESTING_EXAMPLE_RESULT_H_
