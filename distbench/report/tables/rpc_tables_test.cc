#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/tables/table.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {

// The tables of policies, goodput over time and recoveries.

namespace {

using ::testing::ElementsAre;

// An open loop of 100 RPCs per second for 20 s, with 150 attempts. The server
// is frozen for a second.
TestResult RetriedThroughAFreeze() {
  TestResult result = ResultFromText(R"(
    traffic_config {
      rpc_descriptions { name: "get" policy {} }
      rpc_descriptions { name: "plain" }
    }
    service_logs {
      instance_logs {
        key: "client/0"
        value {
          policy_statistics {
            key: 0
            value { request_count: 2000 attempt_count: 3000 hedge_count: 1000
                    hedge_won_count: 9 succeeded_attempt_count: 2500
                    abandoned_attempt_count: 500 }
          }
          peer_logs {
            key: "server/0"
            value {
              rpc_logs { key: 0
                         value { statistics { succeeded_count: 1900 } } }
            }
          }
        }
      }
      instance_logs {
        key: "server/0"
        value {
          fault_logs {
            key: "freeze"
            value {
              times { begin_timestamp_ns: 1010000000000
                      end_timestamp_ns: 1011000000000 }
            }
          }
        }
      }
    })");
  for (const int rpc_index : {0, 1}) {
    RpcTimeSeries& series = (*result.mutable_service_logs()
                                  ->mutable_instance_logs()
                                  ->at("client/0")
                                  .mutable_rpc_time_series())[rpc_index];
    series.set_interval_ns(1'000'000'000);
    for (int i = 0; i < 20; ++i) {
      RpcInterval& interval = *series.add_intervals();
      interval.set_index(1000 + i);
      if (rpc_index == 0) interval.set_offered_count(100);
      interval.set_sent_count(100);
      interval.set_succeeded_count(i == 10 ? 0 : 100);
      if (rpc_index == 0) interval.set_attempt_count(150);
    }
  }
  return result;
}

std::vector<Row> RowsOfTable(const ReportTable& table,
                             const TestResult& result) {
  std::vector<Row> rows;
  table.list_rows(result, [&](const Row& row) {
    EXPECT_EQ(row.size(), table.columns.size());
    rows.push_back(row);
  });
  return rows;
}

Cell CellOf(const ReportTable& table, const Row& row,
            const std::string& column) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i] == column) return row[i];
  }
  ADD_FAILURE() << "no column " << column;
  return {};
}

TEST(PoliciesTableTest, HasARowPerRpcWithAPolicy) {
  const ReportTable& table = PoliciesTable();
  const auto rows = RowsOfTable(table, RetriedThroughAFreeze());
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(CellOf(table, rows[0], "rpc"), Cell("get"));
  EXPECT_EQ(CellOf(table, rows[0], "attempts"), Cell(int64_t{3000}));
  EXPECT_EQ(CellOf(table, rows[0], "hedges_won"), Cell(int64_t{9}));
  EXPECT_EQ(CellOf(table, rows[0], "amplification"), Cell(1.5));
  EXPECT_EQ(CellOf(table, rows[0], "wasted"), Cell(1 - 1900.0 / 3000));
  // 20 s, of which one was without success.
  EXPECT_EQ(CellOf(table, rows[0], "goodput_per_second"), Cell(95.0));
  EXPECT_EQ(CellOf(table, rows[0], "sent_per_second"), Cell(100.0));
  // Nothing was measured of these.
  EXPECT_EQ(CellOf(table, rows[0], "offered_per_second"), Cell());
  EXPECT_EQ(CellOf(table, rows[0], "quorum_p99_ns"), Cell());
  EXPECT_EQ(CellOf(table, rows[0], "min_concurrency_limit"), Cell());
}

TEST(GoodputTableTest, HasTheWholeSecondsOfPoliciesAndOfRunsWithFaults) {
  TestResult result = RetriedThroughAFreeze();
  const ReportTable& table = GoodputTable();
  const auto rows = RowsOfTable(table, result);
  ASSERT_EQ(rows.size(), 2 * 18);
  EXPECT_THAT(rows[9],
              ElementsAre(Cell("get"), Cell(int64_t{1'010'000'000'000}),
                          Cell(1.0), Cell(int64_t{100}), Cell(int64_t{100}),
                          Cell(int64_t{0}), Cell(int64_t{150})));
  // A closed loop without a policy.
  EXPECT_EQ(CellOf(table, rows[18], "offered"), Cell());
  EXPECT_EQ(CellOf(table, rows[18], "attempts"), Cell());
  result.mutable_service_logs()->mutable_instance_logs()->erase("server/0");
  EXPECT_EQ(RowsOfTable(table, result).size(), 18);
}

TEST(FaultsTableTest, HasARowPerInstanceAndFault) {
  TestResult result = RetriedThroughAFreeze();
  auto& logs = *result.mutable_service_logs()->mutable_instance_logs();
  FaultLog& resets = (*logs["server/9"].mutable_fault_logs())["resets"];
  resets.set_connection_count(4);
  FaultTime& damaged = *resets.add_times();
  damaged.set_begin_timestamp_ns(9);
  damaged.set_end_timestamp_ns(8);
  const auto rows = RowsOfTable(FaultsTable(), result);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_THAT(rows[0],
              ElementsAre(Cell("server/0"), Cell("freeze"), Cell(int64_t{0}),
                          Cell(int64_t{0}), Cell(int64_t{1}), Cell(1.0),
                          Cell(int64_t{1'010'000'000'000}),
                          Cell(int64_t{1'011'000'000'000})));
  EXPECT_THAT(rows[1],
              ElementsAre(Cell("server/9"), Cell("resets"), Cell(int64_t{0}),
                          Cell(int64_t{4}), Cell(int64_t{0}), Cell(0.0), Cell(),
                          Cell()));
}

TEST(RecoveriesTableTest, HasARowPerFaultAndRpc) {
  const auto rows = RowsOfTable(RecoveriesTable(), RetriedThroughAFreeze());
  ASSERT_EQ(rows.size(), 2);
  EXPECT_THAT(
      rows[0],
      ElementsAre(Cell("freeze"), Cell(int64_t{1'010'000'000'000}),
                  Cell(int64_t{1'011'000'000'000}), Cell("get"),
                  Cell("recovered"), Cell(0.0), Cell(8.0), Cell(100.0)));
}

}  // namespace
}  // namespace distbench::report
