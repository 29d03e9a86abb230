// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests beside each other, such as those of a sweep.

#ifndef DISTBENCH_REPORT_TERMINAL_TEST_TABLE_H_
#define DISTBENCH_REPORT_TERMINAL_TEST_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/results.pb.h"

namespace distbench::report {

struct TestRow {
  // Figures of what was measured after the warm-up, as reports have them.
  // Latencies are response times in open loops and service times otherwise.
  struct RpcFigures {
    std::string rpc;
    double per_second = 0;

    // As of ShownPercentile().
    std::optional<int64_t> p50_ns = {};
    std::optional<int64_t> p99_ns = {};
  };

  std::string test;
  std::string verdict;  // as of RunVerdict(), or why there is none

  // RPCs of which any succeeded, in the order of the config.
  std::vector<RpcFigures> rpcs;
};

// The row of a result, which is called as in its config.
TestRow RowOf(const TestResult& result);

// Returns a sentence that says which latencies are shown, and a table with a
// line per test and RPC.
std::string TestTable(absl::Span<const TestRow> rows);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TERMINAL_TEST_TABLE_H_
