// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Quantities of traffic, as the library of real traffic defines them.

#ifndef DISTBENCH_TESTS_LIBRARY_MEASURE_H_
#define DISTBENCH_TESTS_LIBRARY_MEASURE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "proto/library.pb.h"
#include "proto/results.pb.h"

namespace distbench {

// The values of a marginal that is a distribution, ascending; one value of a
// marginal that is not. The error says that the result has no such values; the
// result is that of a run of `seconds`.
absl::StatusOr<std::vector<double>> Measure(const Marginal& marginal,
                                            const TestResult& result,
                                            int64_t seconds);

}  // namespace distbench

#endif  // DISTBENCH_TESTS_LIBRARY_MEASURE_H_
