// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The noise floors of all RPCs of a test, in a table.

#ifndef DISTBENCH_PRODUCTS_AB_TEST_NOISE_TABLE_H_
#define DISTBENCH_PRODUCTS_AB_TEST_NOISE_TABLE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::ab_test {

// Returns a table of the noise floors of all RPCs of a test, for groups of
// several sizes. FAILED_PRECONDITION says why there is no noise floor. The runs
// are those of a single test, and at least one.
absl::StatusOr<std::string> DescribeNoise(
    absl::Span<const report::TestRun> runs);

}  // namespace distbench::ab_test

#endif  // DISTBENCH_PRODUCTS_AB_TEST_NOISE_TABLE_H_
