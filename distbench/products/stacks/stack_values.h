// What is measured of a stack in one run.

#ifndef DISTBENCH_PRODUCTS_STACKS_STACK_VALUES_H_
#define DISTBENCH_PRODUCTS_STACKS_STACK_VALUES_H_

#include <array>
#include <map>
#include <optional>
#include <string>

#include "distbench/products/stacks/stacks.h"
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

}  // namespace distbench::stacks

#endif  // DISTBENCH_PRODUCTS_STACKS_STACK_VALUES_H_
