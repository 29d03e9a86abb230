#include "distbench/report/measurements/attempt_totals.h"

#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::DoubleEq;
using ::testing::Optional;

constexpr char kTwoClients[] = R"(
  traffic_config { rpc_descriptions { name: "query" policy {} }
                   rpc_descriptions { name: "plain" } }
  service_logs {
    instance_logs {
      key: "client/0"
      value {
        policy_statistics {
          key: 0
          value {
            request_count: 100 attempt_count: 150 retry_count: 50
            succeeded_attempt_count: 90 failed_attempt_count: 60
            concurrency_limit { count: 2 min: 8 max: 12 sum: 20 }
          }
        }
      }
    }
    instance_logs {
      key: "client/1"
      value {
        policy_statistics {
          key: 0
          value {
            request_count: 100 attempt_count: 100
            succeeded_attempt_count: 100
            concurrency_limit { count: 2 min: 10 max: 30 sum: 40 }
          }
        }
      }
    }
    instance_logs {
      key: "client/2"
      value {
        policy_statistics {
          key: 0
          value { request_count: 100 attempt_count: 100 retry_count: -7 }
        }
      }
    }
  })";

TEST(AttemptTotalsTest, AddsUpTheUndamagedClientsOfAnRpc) {
  const auto attempts = AttemptsOf(ResultFromText(kTwoClients), "query");
  ASSERT_TRUE(attempts.has_value());
  EXPECT_EQ(attempts->attempt_count, 250);
  EXPECT_EQ(attempts->retry_count, 50);
  EXPECT_EQ(attempts->concurrency_limit.count, 4);
  EXPECT_EQ(attempts->concurrency_limit.min, 8);
  EXPECT_EQ(attempts->concurrency_limit.max, 30);
  EXPECT_THAT(Amplification(*attempts), Optional(DoubleEq(1.25)));
  EXPECT_FALSE(AttemptsOf(ResultFromText(kTwoClients), "plain").has_value());
}

TEST(AttemptTotalsTest, WhatNobodyUsedIsWasted) {
  results::PolicyTotals attempts;
  EXPECT_FALSE(WastedShare(attempts, 0).has_value());
  EXPECT_FALSE(Amplification(attempts).has_value());
  // 100 requests, of which 80 succeeded; 20 hedges succeeded too late.
  attempts = {.request_count = 100,
              .attempt_count = 160,
              .succeeded_attempt_count = 100,
              .failed_attempt_count = 40,
              .abandoned_attempt_count = 20};
  EXPECT_THAT(WastedShare(attempts, 80), Optional(DoubleEq(0.5)));
  // More requests than attempts that succeeded cannot be.
  EXPECT_THAT(WastedShare(attempts, 1000), Optional(DoubleEq(1 - 100 / 160.0)));
}

}  // namespace
}  // namespace distbench::report
