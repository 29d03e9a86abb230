// What is measured of a stack in one run.

#ifndef DISTBENCH_PRODUCTS_STACKS_STACK_VALUES_H_
#define DISTBENCH_PRODUCTS_STACKS_STACK_VALUES_H_

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/products/stacks/stacks.h"
#include "distbench/report/measurements/test_run.h"
#include "proto/results.pb.h"

namespace distbench::stacks {

// The metrics of one RPC in one run.
struct StackValues {
  bool has_response_times = false;
  std::optional<double> offered_per_second;

  // By position in kStackMetrics.
  std::array<std::optional<StackFigure>, kStackMetricCount> figures;
};

// Returns the values of the RPCs that main lists send or, if the config does
// not tell which these are, of all RPCs. Requires statistics (see
// results/legacy_results.h).
std::map<std::string, StackValues> StackValuesOf(const TestResult& result);

// The protocol drivers of a test, which carry its RPCs.
struct StackName {
  // The drivers of its services, such as "tcp", "double_barrel over grpc" or
  // "grpc + tcp".
  std::string drivers;

  // Their settings as the config has them, such as "client connections=4".
  std::string settings;
};

StackName StackOf(const DistributedSystemDescription& test);

// Returns a name for the stack of each run: its drivers, and their settings if
// these differ between runs of the same drivers. Runs with equal names have
// equal stacks. Names of simulated ones are marked.
std::vector<std::string> NameStacks(absl::Span<const report::TestRun> runs);

}  // namespace distbench::stacks

#endif  // DISTBENCH_PRODUCTS_STACKS_STACK_VALUES_H_
