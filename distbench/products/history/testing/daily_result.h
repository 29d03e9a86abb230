// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// For tests: results of one test that is repeated every day.

#ifndef DISTBENCH_PRODUCTS_HISTORY_TESTING_DAILY_RESULT_H_
#define DISTBENCH_PRODUCTS_HISTORY_TESTING_DAILY_RESULT_H_

#include "proto/results.pb.h"

namespace distbench::history {

// A valid result of the test "example", which took two seconds on this day. Its
// latencies are multiplied by `slowness`. Equal arguments give equal results.
TestResult MakeDailyResult(int day, double slowness = 1);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_TESTING_DAILY_RESULT_H_
