// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/derived/conservation.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "distbench/report/derived/derive.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/testing/example_result.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Report::Test Derived(const ExampleOptions& options) {
  const TestResult result = MakeExampleResult(options);
  return DeriveTest({.source = "a.pb", .result = &result});
}

TEST(BrokenLawsTest, ExamplesKeepThem) {
  for (const uint64_t seed : {1, 2, 3}) {
    EXPECT_THAT(BrokenLaws(Derived({.seed = seed})), IsEmpty());
  }
  EXPECT_THAT(BrokenLaws(Derived({.clients = 1, .servers = 1, .rpcs = 1})),
              IsEmpty());
}

TEST(BrokenLawsTest, ObjectivesMeasureWhatReportsShow) {
  TestResult result = MakeExampleResult({});
  for (const char* objective :
       {"rpc_0 p50<=1s", "rpc_0 p99.9>=1ms", "rpc_0 mean<=1s", "rpc_1 rate>=1",
        "rpc_1 failures<=1%", "rpc_1 goodput>=1", "cpu<=50%"}) {
    result.mutable_traffic_config()->add_objectives(objective);
  }
  EXPECT_THAT(BrokenLaws(DeriveTest({.source = "a.pb", .result = &result})),
              IsEmpty());
}

// Its engine was killed: its node manager knew what it had measured so far, but
// not whom it had called.
TEST(BrokenLawsTest, ALostClientKeepsThem) {
  const TestResult result = ResultFromText(R"(
    traffic_config { rpc_descriptions { name: "a" client: "c" server: "s" } }
    service_logs {
      instance_logs {
        key: "c/0"
        value {
          pooled_statistics {
            key: 0
            value {
              succeeded_count: 1
              failed_count: 2
              first_start_timestamp_ns: 1000
              last_end_timestamp_ns: 3000
              service_time_ns {
                sub_bucket_bits: 7
                bucket_index_deltas: 7
                bucket_counts: 1
                min: 7 max: 7 sum: 7 sum_of_squares: 49
              }
            }
          }
        }
      }
    })");
  const Report::Test test = DeriveTest({.source = "a.pb", .result = &result});
  EXPECT_THAT(BrokenLaws(test), IsEmpty());
  ASSERT_EQ(test.peers().rows_size(), 1);
  const Report::PeerTable::Row& row = test.peers().rows(0);
  EXPECT_EQ(row.client(), "c/0");
  EXPECT_EQ(row.server(), kUnknownServer);
  EXPECT_EQ(row.rpc(), "a");
  EXPECT_EQ(row.counts().succeeded(), 1);
  EXPECT_EQ(row.counts().failed(), 2);
}

// Also where pairs did not begin at the same time.
TEST(BrokenLawsTest, RatesOfPairsAddUpToThatOfTheRpc) {
  TestResult result = ResultFromText(R"(
    traffic_config { rpc_descriptions { name: "a" client: "c" server: "s" } })");
  const auto add = [&](const char* client, const char* server, int64_t start) {
    RpcStatistics& statistics = StatisticsOf(result, client, server, 0);
    statistics.set_succeeded_count(58);
    statistics.set_first_start_timestamp_ns(start);
    statistics.set_last_end_timestamp_ns(start + 2'000'000'000);
  };
  add("c/0", "s/0", 1'000'000'000);
  add("c/1", "s/1", 1'030'000'000);
  const Report::Test test = DeriveTest({.source = "a.pb", .result = &result});
  ASSERT_EQ(test.peers().rows_size(), 2);
  for (const auto& row : test.peers().rows()) {
    EXPECT_DOUBLE_EQ(row.counts().per_second(), 58 / 2.03);
    EXPECT_DOUBLE_EQ(row.counts().duration_s(), 2.03);
  }
  ASSERT_EQ(test.topology().instances().rows_size(), 4);
  for (const auto& row : test.topology().instances().rows()) {
    EXPECT_DOUBLE_EQ(row.traffic().succeeded_per_second(), 58 / 2.03);
  }
  EXPECT_THAT(BrokenLaws(test), Not(Contains(HasSubstr("per second"))));
}

struct Lie {
  std::string told;
  std::function<void(Report::Test& test)> tell;
};

TEST(BrokenLawsTest, EachLieIsFound) {
  const auto rpc = [](Report::Test& test) -> Report::Rpc& {
    return *test.mutable_rpcs(0);
  };
  const std::vector<Lie> lies = {
      {"failures by cause add up to",
       [&](auto& test) { rpc(test).add_failures()->set_count(1); }},
      {"unsent 1000000000 is more than offered",
       [&](auto& test) {
         rpc(test).mutable_offered_load()->set_unsent_count(1'000'000'000);
       }},
      {"held back 1000000000 is more than offered",
       [&](auto& test) {
         rpc(test).mutable_offered_load()->set_held_back_count(1'000'000'000);
       }},
      {"or were never sent, ",
       [&](auto& test) {
         auto& load = *rpc(test).mutable_offered_load();
         load.set_offered_count(load.offered_count() + 1);
       }},
      {"is more than offered 1",
       [&](auto& test) {
         rpc(test).mutable_offered_load()->set_offered_count(1);
         test.set_failure("lost");
       }},
      {"is not within the run",
       [](auto& test) {
         auto& row = *test.mutable_seconds()->mutable_rows(0);
         row.set_start_timestamp_ns(test.run().end_timestamp_ns() +
                                    2'000'000'000);
       }},
      {"is not within the run",
       [](auto& test) {
         test.mutable_seconds()->mutable_rows(0)->set_start_timestamp_ns(1);
       }},
      {"duration_s is nan",
       [](auto& test) {
         test.mutable_seconds()->mutable_rows(0)->set_duration_s(
             std::numeric_limits<double>::quiet_NaN());
       }},
      {"service times",
       [&](auto& test) {
         rpc(test).set_succeeded_count(rpc(test).succeeded_count() + 1);
       }},
      {"without a duration: succeeded",
       [&](auto& test) { rpc(test).clear_duration_ns(); }},
      {"per second",
       [&](auto& test) {
         rpc(test).set_per_second(1.01 * rpc(test).per_second());
       }},
      {"p50",
       [&](auto& test) {
         auto& percentiles =
             *rpc(test).mutable_service_time()->mutable_percentiles();
         percentiles[0].set_value_ns(2 * percentiles[1].value_ns());
       }},
      {"failed, but not",
       [&](auto& test) {
         auto& first =
             *rpc(test).mutable_service_time()->mutable_percentiles(0);
         first.set_failed(true);
         first.clear_value_ns();
       }},
      {"has failed, and a value",
       [&](auto& test) {
         rpc(test).mutable_service_time()->mutable_percentiles(0)->set_failed(
             true);
       }},
      {"the mean",
       [&](auto& test) {
         rpc(test).mutable_service_time()->set_mean_ns(1e18);
       }},
      {"the distribution ends with",
       [&](auto& test) {
         rpc(test).mutable_service_time()->mutable_distribution()->RemoveLast();
       }},
      {"the distribution falls",
       [&](auto& test) {
         rpc(test)
             .mutable_service_time()
             ->mutable_distribution(0)
             ->set_count_at_most(1'000'000'000);
       }},
      {"totals: succeeded",
       [](auto& test) { test.mutable_totals()->set_succeeded_count(1); }},
      {"totals: bytes of requests",
       [](auto& test) { test.mutable_totals()->set_request_bytes(1); }},
      {"edges succeeded",
       [](auto& test) {
         test.mutable_topology()
             ->mutable_edges(0)
             ->mutable_traffic()
             ->set_succeeded(1);
       }},
      {"pairs failed",
       [](auto& test) {
         test.mutable_peers()->mutable_rows(0)->mutable_counts()->set_failed(
             1'000);
       }},
      {"clients succeeded",
       [](auto& test) {
         for (auto& row :
              *test.mutable_topology()->mutable_instances()->mutable_rows()) {
           row.mutable_traffic()->set_succeeded(1);
         }
       }},
      {"ended in seconds",
       [](auto& test) {
         test.mutable_seconds()->mutable_rows(0)->set_failed(1'000);
       }},
      {"warm-up in seconds",
       [](auto& test) {
         test.mutable_seconds()->mutable_rows(0)->set_warmup(1'000);
       }},
      {"attempts",
       [](auto& test) {
         auto& row = *test.mutable_policies()->add_rows();
         row.set_requests(1);
         row.set_attempts(2);
       }},
      {"succeeded, failed or not needed",
       [&](auto& test) {
         auto& row = *test.mutable_policies()->add_rows();
         row.set_rpc(rpc(test).name());
         row.set_requests(1);
       }},
      {"pairs per second 1",
       [](auto& test) {
         for (auto& row : *test.mutable_peers()->mutable_rows()) {
           row.mutable_counts()->set_per_second(0);
         }
         test.mutable_peers()
             ->mutable_rows(0)
             ->mutable_counts()
             ->set_per_second(1);
       }},
      {"edges per second 1, all of it",
       [](auto& test) {
         test.mutable_topology()
             ->mutable_edges(0)
             ->mutable_traffic()
             ->set_succeeded_per_second(1);
       }},
      {"the measurement 1, elsewhere it is",
       [&](auto& test) {
         auto& objective = *test.add_objectives();
         objective.set_objective(rpc(test).name() + " rate>=1");
         objective.set_measured(1);
       }},
      {"wasted 1.5 is no share",
       [](auto& test) {
         test.mutable_policies()->add_rows()->set_wasted(1.5);
       }},
      {"the lower bound", [](auto& test) {
         auto& objective = *test.add_objectives();
         objective.set_measured(1);
         objective.set_lower(2);
       }}};
  const Report::Test honest = Derived({});
  for (const Lie& lie : lies) {
    Report::Test test = honest;
    lie.tell(test);
    EXPECT_THAT(BrokenLaws(test), Contains(HasSubstr(lie.told))) << lie.told;
  }
}

TEST(BrokenLawsTest, WhatWasLeftOutSuspendsItsLaws) {
  Report::Test test = Derived({});
  test.mutable_peers()->mutable_rows()->RemoveLast();
  EXPECT_THAT(BrokenLaws(test), Contains(HasSubstr("pairs succeeded")));
  test.mutable_peers()->set_rows_left_out(1);
  EXPECT_THAT(BrokenLaws(test), IsEmpty());
}

// 100 RPCs per second, each of which takes half a second.
Report::Test Steady(double mean_ns) {
  constexpr int kSeconds = 20;
  Report::Test test;
  Report::Rpc& rpc = *test.add_rpcs();
  rpc.set_name("query");
  for (int i = 0; i < kSeconds; ++i) {
    auto& row = *test.mutable_seconds()->add_rows();
    row.set_rpc("query");
    row.set_sent(i == kSeconds - 1 ? 50 : 100);
    row.set_succeeded(i == 0 ? 50 : 100);
    rpc.set_succeeded_count(rpc.succeeded_count() + row.succeeded());
  }
  rpc.set_per_second(100);
  rpc.mutable_service_time()->set_mean_ns(mean_ns);
  return test;
}

TEST(BrokenLawsTest, RequestsInFlightAreRateTimesTime) {
  EXPECT_THAT(BrokenLaws(Steady(0.5e9)), Not(Contains(HasSubstr("in flight"))));
  EXPECT_THAT(BrokenLaws(Steady(0.9e9)),
              Contains(HasSubstr("mean in flight at the ends of seconds 50, "
                                 "rate times service time is 90")));
}

}  // namespace
}  // namespace distbench::report
