// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs with given measurements.

#ifndef DISTBENCH_REPORT_COMPARISON_TESTING_MADE_RUNS_H_
#define DISTBENCH_REPORT_COMPARISON_TESTING_MADE_RUNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "distbench/report/comparison/compare.h"
#include "distbench/results/rpc_totals.h"
#include "proto/results.pb.h"

namespace distbench::report {

// A result of a test "t" with these totals of its RPC "query", whose calls took
// this long together.
inline constexpr int64_t kSecondNs = 1'000'000'000;
TestResult RunWith(results::RpcTotals totals, int64_t duration_ns = kSecondNs);

// The statistics of the RPC of such a result.
RpcStatistics& StatisticsOf(TestResult& result);

// `count` RPCs with this latency, and failed ones.
TestResult RunOf(int64_t latency_ns, int64_t count = 10'000,
                 int64_t failed_count = 0);

// Compares results of a file each.
std::vector<TestComparison> Compared(std::vector<TestResult> base,
                                     std::vector<TestResult> next,
                                     const CompareOptions& options = {});

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_TESTING_MADE_RUNS_H_
