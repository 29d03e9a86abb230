// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/report/derived/tables.h"
#include "distbench/report/testing/report_testing.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::report {

// The tables of policies, goodput over time and recoveries.

namespace {

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

// The rows of a table; Row is the type of its rows.
template <typename Row>
std::vector<Row> RowsOf(absl::string_view table, const TestResult& result) {
  std::vector<Row> rows;
  TableNamed(table).list_rows(result, [&](google::protobuf::Message& row) {
    rows.push_back(static_cast<const Row&>(row));
  });
  return rows;
}

// A row from a text of its fields.
template <typename Row>
Row RowFromText(const std::string& text) {
  Row row;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &row));
  return row;
}

template <typename Row>
void ExpectRow(const Row& row, const std::string& text) {
  EXPECT_EQ(row.ShortDebugString(), RowFromText<Row>(text).ShortDebugString());
}

TEST(PoliciesTableTest, HasARowPerRpcWithAPolicy) {
  const auto rows =
      RowsOf<Report::PolicyTable::Row>("policies", RetriedThroughAFreeze());
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].rpc(), "get");
  EXPECT_EQ(rows[0].attempts(), 3000);
  EXPECT_EQ(rows[0].hedges_won(), 9);
  EXPECT_EQ(rows[0].amplification(), 1.5);
  EXPECT_EQ(rows[0].wasted(), 1 - 1900.0 / 3000);
  // 20 s, of which one was without success.
  EXPECT_EQ(rows[0].goodput_per_second(), 95);
  EXPECT_EQ(rows[0].sent_per_second(), 100);
  // Nothing was measured of these.
  EXPECT_FALSE(rows[0].has_offered_per_second());
  EXPECT_FALSE(rows[0].quorum().has_p99_ns());
  EXPECT_FALSE(rows[0].has_min_concurrency_limit());
}

// Of a closed loop, nothing is due at a time.
TEST(SecondsTableTest, OnlyOpenLoopsAreOffered) {
  const auto rows =
      RowsOf<Report::SecondTable::Row>("seconds", RetriedThroughAFreeze());
  ASSERT_EQ(rows.size(), 2 * 20);
  EXPECT_EQ(rows[0].offered(), 100);
  EXPECT_FALSE(rows[20].has_offered()) << rows[20].rpc();
  EXPECT_EQ(rows[20].sent(), 100);
}

TEST(GoodputTableTest, HasTheWholeSecondsOfPoliciesAndOfRunsWithFaults) {
  using Row = Report::GoodputTable::Row;
  TestResult result = RetriedThroughAFreeze();
  const auto rows = RowsOf<Row>("goodput", result);
  ASSERT_EQ(rows.size(), 2 * 18);
  ExpectRow(rows[9], R"(rpc: "get" start_timestamp_ns: 1010000000000
                        duration_s: 1 offered: 100 sent: 100 attempts: 150)");
  // A closed loop without a policy.
  EXPECT_FALSE(rows[18].has_offered());
  EXPECT_FALSE(rows[18].has_attempts());
  result.mutable_service_logs()->mutable_instance_logs()->erase("server/0");
  EXPECT_EQ(RowsOf<Row>("goodput", result).size(), 18);
}

TEST(FaultsTableTest, HasARowPerInstanceAndFault) {
  TestResult result = RetriedThroughAFreeze();
  auto& logs = *result.mutable_service_logs()->mutable_instance_logs();
  FaultLog& resets = (*logs["server/9"].mutable_fault_logs())["resets"];
  resets.set_connection_count(4);
  FaultTime& damaged = *resets.add_times();
  damaged.set_begin_timestamp_ns(9);
  damaged.set_end_timestamp_ns(8);
  const auto rows = RowsOf<Report::FaultTable::Row>("faults", result);
  ASSERT_EQ(rows.size(), 2);
  ExpectRow(rows[0], R"(instance: "server/0" fault: "freeze" times: 1
                        in_effect_s: 1
                        first_begin_timestamp_ns: 1010000000000
                        last_end_timestamp_ns: 1011000000000)");
  ExpectRow(rows[1], R"(instance: "server/9" fault: "resets" connections: 4)");
}

TEST(RecoveriesTableTest, HasARowPerFaultAndRpc) {
  const auto rows =
      RowsOf<Report::RecoveryTable::Row>("recoveries", RetriedThroughAFreeze());
  ASSERT_EQ(rows.size(), 2);
  ExpectRow(rows[0], R"(fault: "freeze" begin_timestamp_ns: 1010000000000
                        end_timestamp_ns: 1011000000000 rpc: "get"
                        outcome: "recovered" recovered_after_s: 0 observed_s: 8
                        goodput_before_per_second: 100)");
}

}  // namespace
}  // namespace distbench::report
