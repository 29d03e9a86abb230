// What iocost-params found, as named values.

#ifndef DISTBENCH_PRODUCTS_BENCH_KINDS_IO_COST_OUTCOME_H_
#define DISTBENCH_PRODUCTS_BENCH_KINDS_IO_COST_OUTCOME_H_

#include <string>

#include "distbench/products/bench/kinds/values.h"
#include "proto/experiment.pb.h"

namespace distbench::bench {

inline constexpr char kIoCostDevice[] = "device";

void AddIoCost(const IoCostSettings& settings, BenchValues& values);

// The settings, enabled. Values that are absent are 0.
IoCostSettings IoCostFrom(const BenchValues& values);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_KINDS_IO_COST_OUTCOME_H_
