// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <limits>
#include <string>

#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/outcomes.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::IsEmpty;
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
  EXPECT_THAT(totals.damaged_logs, IsEmpty());
}

TEST(TestTotalsTest, AddsUpACounterOfDrivers) {
  TestResult result;
  auto& logs = *result.mutable_service_logs()->mutable_instance_logs();
  (*logs["a/0"].mutable_driver_counters())["n"] = 2;
  (*logs["a/1"].mutable_driver_counters())["n"] = 3;
  (*logs["a/1"].mutable_driver_counters())["large"] = INT64_MAX;
  (*logs["b/0"].mutable_driver_counters())["large"] = 1;
  EXPECT_EQ(DriverCounter(result, "n"), 5);
  EXPECT_EQ(DriverCounter(result, "none"), 0);
  EXPECT_EQ(DriverCounter(result, "large"), INT64_MAX);
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
  EXPECT_THAT(totals.pairs, SizeIs(1));
  EXPECT_THAT(totals.damaged_logs, ElementsAre(HasSubstr("a from c/1: ")));
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
  EXPECT_EQ(totals.pairs.at({"c/0", kUnknownServer}).succeeded_count, 7);
}

// The client counted four failures: two RPCs that were never sent, because the
// send queue was full until their deadline, and two that a server refused. A
// cap held back one more.
TEST(TestTotalsTest, ResponseTimesHaveEachFailureOnce) {
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
                      failed_count: 4
                      response_time_ns {
                        sub_bucket_bits: 7
                        bucket_index_deltas: 7
                        bucket_counts: 1
                        min: 7 max: 7 sum: 7 sum_of_squares: 49
                      }
                    }
                  }
                }
              }
            }
            offered_loads { key: 0 value { offered_count: 6 unsent_count: 3 } }
          }
        }
      })",
      &result));
  const stats::Outcomes times = ResponseTimeOf(AddUp(result), "a");
  EXPECT_EQ(times.count(), 6);
  EXPECT_EQ(times.failed_count, 5);
}

TEST(TestTotalsTest, OpenLoopsHaveNoFailuresOfOthers) {
  OfferedLoad load;
  EXPECT_EQ(OpenLoopFailures(load, 90, 10), 10);
  load.set_offered_count(100);
  load.set_unsent_count(4);
  // Of these 50 failures, most are of RPCs that handlers sent.
  EXPECT_EQ(OpenLoopFailures(load, 90, 50), 10);
  // Counts that do not belong together.
  EXPECT_EQ(OpenLoopFailures(load, 200, 50), 4);
  EXPECT_EQ(OpenLoopFailures(load, 0, 50), 54);
}

constexpr char kThreeClients[] = R"(
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

TEST(ClientSumsTest, AddsUpTheUndamagedClients) {
  const TestTotals totals = AddUp(ResultFromText(kThreeClients));
  const PolicyStatistics& attempts = totals.attempts.at("query");
  EXPECT_EQ(attempts.attempt_count(), 250);
  EXPECT_EQ(attempts.retry_count(), 50);
  EXPECT_EQ(attempts.concurrency_limit().count(), 4);
  EXPECT_EQ(attempts.concurrency_limit().min(), 8);
  EXPECT_EQ(attempts.concurrency_limit().max(), 30);
  EXPECT_FALSE(totals.attempts.contains("plain"));
  EXPECT_THAT(totals.damaged_logs,
              ElementsAre(HasSubstr("attempts of query from client/2: "
                                    "statistics hold -7")));
}

// A client whose log has `count` messages at a distance of 7 ns, and unsent
// requests that waited for as long.
void AddClient(const std::string& name, uint64_t count, TestResult& result) {
  stats::LogHistogram recorded;
  recorded.RecordN(7, count);
  Histogram times_ns;
  results::EncodeHistogram(recorded, times_ns);
  ServicePerformanceLog& log =
      (*result.mutable_service_logs()->mutable_instance_logs())[name];
  StreamStatistics& streams = (*log.mutable_stream_statistics())[0];
  streams.set_stream_count(1);
  *streams.mutable_gap_ns() = times_ns;
  OfferedLoad& load = (*log.mutable_offered_loads())[0];
  load.set_offered_count(1);
  *load.mutable_unsent_wait_ns() = times_ns;
}

// Each alone is valid, but not the sum of all.
TEST(ClientSumsTest, OneClientDoesNotHideTheOthers) {
  TestResult result =
      ResultFromText("traffic_config { rpc_descriptions { name: 'feed' } }");
  AddClient("client/0", 5, result);
  AddClient("client/1", std::numeric_limits<int64_t>::max(), result);
  AddClient("client/2", 3, result);

  const TestTotals totals = AddUp(result);
  const StreamStatistics& streams = totals.streams.at("feed");
  EXPECT_EQ(streams.stream_count(), 2);
  EXPECT_EQ(results::HistogramOf(streams.gap_ns()).count(), 8u);
  const OfferedLoad load = totals.load("feed");
  EXPECT_EQ(load.offered_count(), 2);
  EXPECT_EQ(results::HistogramOf(load.unsent_wait_ns()).count(), 8u);
  EXPECT_THAT(totals.damaged_logs,
              ElementsAre(HasSubstr("messages of feed from client/1: gap_ns "
                                    "cannot be added to the others"),
                          HasSubstr("offered load of feed from client/1: ")));
}

TEST(ClientSumsTest, NothingIsLeftOutOfAResultWithoutDamage) {
  TestResult result =
      ResultFromText("traffic_config { rpc_descriptions { name: 'feed' } }");
  AddClient("client/0", 5, result);
  const TestTotals totals = AddUp(result);
  EXPECT_THAT(totals.damaged_logs, IsEmpty());
  EXPECT_FALSE(totals.streams.contains("other"));
  EXPECT_FALSE(totals.attempts.contains("feed"));
  EXPECT_EQ(totals.load("other").offered_count(), 0);
}

}  // namespace

}  // namespace distbench::report
