#include "distbench/report/measurements/test_totals.h"

#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(TestTotalsTest, AddsUpByRpcPairAndInstance) {
  TestResult result;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(
      traffic_config {
        rpc_descriptions { name: "b" }
        rpc_descriptions { name: "a" }
      }
      service_logs {
        instance_logs {
          key: "c/0"
          value {
            peer_logs {
              key: "s/0"
              value {
                rpc_logs {
                  key: 0
                  value {
                    statistics {
                      succeeded_count: 5
                      failed_count: 3
                      request_bytes: 10
                      response_bytes: 20
                      first_start_timestamp_ns: 1000
                      last_end_timestamp_ns: 3000
                      failures_by_error { key: 1 value: 2 }
                    }
                  }
                }
                rpc_logs {
                  key: 9
                  value {
                    statistics {
                      succeeded_count: 2
                      warmup_count: 4
                      request_bytes: 100
                      first_start_timestamp_ns: 500
                      last_end_timestamp_ns: 2000
                    }
                  }
                }
              }
            }
            error_dictionary { error_message: "" error_message: "broken" }
          }
        }
      })",
      &result));
  const TestTotals totals = AddUp(result);
  EXPECT_THAT(totals.rpcs, ElementsAre(Key("a"), Key("b"), Key("rpc[9]")));
  EXPECT_EQ(totals.rpcs.at("b").counts.succeeded_count, 5);
  EXPECT_EQ(totals.rpcs.at("rpc[9]").counts.warmup_count, 4);
  EXPECT_THAT(totals.failures,
              ElementsAre(Pair(
                  "b", UnorderedElementsAre(Pair("broken", 2),
                                            Pair("cause not recorded", 1)))));
  EXPECT_EQ(totals.pairs.at({"c/0", "s/0"}).succeeded_count, 7);
  EXPECT_EQ(totals.instances.at("c/0").sent_bytes, 110);
  EXPECT_EQ(totals.instances.at("c/0").received_bytes, 20);
  EXPECT_EQ(totals.instances.at("s/0").sent_bytes, 20);
  EXPECT_EQ(totals.instances.at("s/0").received_bytes, 110);
  EXPECT_EQ(totals.all.failed_count, 3);
  // From the first send of either RPC to the last completion of either.
  EXPECT_EQ(totals.duration_ns, 2500);
  EXPECT_EQ(totals.invalid_log_count, 0);
}

TEST(TestTotalsTest, NothingHappensInNoTime) {
  EXPECT_EQ(PerSecond(10, 0), 0);
  EXPECT_EQ(PerSecond(10, 2'000'000'000), 5);
}

TEST(TestTotalsTest, PooledHistogramsBelongToTheirRpc) {
  TestResult result;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(
      traffic_config { rpc_descriptions { name: "a" } }
      service_logs {
        instance_logs {
          key: "c/0"
          value {
            peer_logs {
              key: "s/0"
              value {
                rpc_logs {
                  key: 0
                  value {
                    statistics {
                      succeeded_count: 1
                      service_time_moments {
                        count: 1 min: 7 max: 7 sum: 7 sum_of_squares: 49
                      }
                    }
                  }
                }
              }
            }
            pooled_statistics {
              key: 0
              value {
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
        instance_logs {
          key: "c/1"
          value {
            pooled_statistics { key: 0 value { succeeded_count: -1 } }
          }
        }
      })",
      &result));
  const TestTotals totals = AddUp(result);
  EXPECT_EQ(totals.rpcs.at("a").counts.succeeded_count, 1);
  EXPECT_EQ(totals.rpcs.at("a").service_time_ns.count(), 1u);
  EXPECT_EQ(totals.pair_count, 1);
  EXPECT_EQ(totals.brief_pair_count, 1);
  EXPECT_EQ(totals.invalid_log_count, 1);
  EXPECT_THAT(totals.first_invalid_log, HasSubstr("a from c/1: "));
}

TEST(TestTotalsTest, WhatIsLeftOfALostClientCounts) {
  TestResult result;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(
      traffic_config { rpc_descriptions { name: "a" } }
      service_logs {
        instance_logs {
          key: "c/0"
          value {
            pooled_statistics {
              key: 0
              value {
                succeeded_count: 7
                failed_count: 2
                request_bytes: 10
                response_bytes: 20
                first_start_timestamp_ns: 1000
                last_end_timestamp_ns: 3000
              }
            }
          }
        }
      })",
      &result));
  const TestTotals totals = AddUp(result);
  EXPECT_EQ(totals.rpcs.at("a").counts.succeeded_count, 7);
  EXPECT_EQ(totals.all.succeeded_count, 7);
  EXPECT_EQ(totals.duration_ns, 2000);
  EXPECT_EQ(totals.instances.at("c/0").sent_bytes, 10);
  EXPECT_EQ(totals.instances.at("c/0").received_bytes, 20);
  EXPECT_EQ(totals.failures.at("a").at("cause not recorded"), 2);
}

}  // namespace
}  // namespace distbench::report
