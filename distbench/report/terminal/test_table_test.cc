// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/terminal/test_table.h"

#include "distbench/report/testing/example_result.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

TEST(TestTableTest, HasALinePerTestAndRpc) {
  const std::vector<TestRow> rows = {
      {.test = "long\nname",
       .verdict = "warn (kept)",
       .rpcs = {{"root_query", 1234.5, 950, 1'500'000},
                {"leaf", 9.99, 12'345, 2'000'000'000}}},
      {.test = "b", .verdict = "not run", .rpcs = {}},
  };
  EXPECT_EQ(TestTable(rows),
            "All tests, with response times where the load is an open loop and "
            "service times elsewhere:\n"
            "test       RPC             rate      p50      p99  verdict\n"
            "long name  root_query  1.23 k/s   950 ns  1.50 ms  warn (kept)\n"
            "           leaf          9.99/s  12.3 us   2.00 s\n"
            "b          -                  -        -        -  not run\n");
}

TEST(TestTableTest, ARowHasTheRpcsOfItsResult) {
  ExampleOptions options;
  options.name = "example";
  options.rpcs = 2;
  const TestRow row = RowOf(MakeExampleResult(options));
  EXPECT_EQ(row.test, "example");
  ASSERT_THAT(row.rpcs, testing::SizeIs(2));
  EXPECT_EQ(row.rpcs[0].rpc, "rpc_0");
  EXPECT_GT(row.rpcs[0].per_second, 0);
  EXPECT_GT(row.rpcs[0].p50_ns, 0);
}

}  // namespace
}  // namespace distbench::report
