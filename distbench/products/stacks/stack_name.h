#ifndef DISTBENCH_PRODUCTS_STACKS_STACK_NAME_H_
#define DISTBENCH_PRODUCTS_STACKS_STACK_NAME_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::stacks {

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

#endif  // DISTBENCH_PRODUCTS_STACKS_STACK_NAME_H_
