// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/faults.h"

#include <cstdint>
#include <initializer_list>
#include <string>

#include "distbench/report/testing/report_testing.h"
#include "distbench/results/merge.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::IsEmpty;

TEST(PlannedFaultsTest, AddsUpInstancesAndUnitesTheirTimes) {
  const auto faults = PlannedFaultsOf(ResultFromText(R"(
    traffic_config {
      server_faults {
        name: "errors"
        service: "server"
        instances: [ 0, 2 ]
        rpc_name: "query"
        probability: 0.25
        error_code: "ABORTED"
      }
      server_faults { name: "never" service: "server" freeze: true }
    }
    service_logs {
      instance_logs {
        key: "server/0"
        value {
          fault_logs {
            key: "errors"
            value {
              request_count: 3
              connection_count: 1
              times { begin_timestamp_ns: 100 end_timestamp_ns: 200 }
              times { begin_timestamp_ns: 300 end_timestamp_ns: 400 }
            }
          }
        }
      }
      instance_logs {
        key: "server/2"
        value {
          fault_logs {
            key: "errors"
            value {
              request_count: 4
              times { begin_timestamp_ns: 90 end_timestamp_ns: 190 }
              times { begin_timestamp_ns: 301 end_timestamp_ns: 302 }
            }
          }
        }
      }
    })"));
  ASSERT_EQ(faults.size(), 2);
  EXPECT_EQ(faults[0].description,
            "server (instances 0, 2) fails with ABORTED, in RPC query, with "
            "probability 0.25");
  EXPECT_EQ(faults[0].request_count, 7);
  EXPECT_EQ(faults[0].connection_count, 1);
  EXPECT_THAT(faults[0].spans,
              ElementsAre(FieldsAre(90, 200), FieldsAre(300, 400)));
  EXPECT_EQ(faults[1].description, "server stands still");
  EXPECT_THAT(faults[1].spans, IsEmpty());
}

TEST(PlannedFaultsTest, TimesThatEndBeforeTheyBeginAreNone) {
  TestResult result = ResultFromText(R"(
    traffic_config { server_faults { name: "freeze" service: "server" } }
    service_logs {
      instance_logs {
        key: "server/0"
        value {
          fault_logs {
            key: "freeze"
            value {
              times { begin_timestamp_ns: 300 end_timestamp_ns: 200 }
              times { begin_timestamp_ns: -9 end_timestamp_ns: 900 }
              times { begin_timestamp_ns: 100 end_timestamp_ns: 150 }
            }
          }
        }
      }
    })");
  EXPECT_THAT(PlannedFaultsOf(result).at(0).spans,
              ElementsAre(FieldsAre(100, 150)));
  // That there are such times does not say that the fault was never in effect.
  FaultLog& log = result.mutable_service_logs()
                      ->mutable_instance_logs()
                      ->at("server/0")
                      .mutable_fault_logs()
                      ->at("freeze");
  log.mutable_times()->RemoveLast();
  EXPECT_THAT(PlannedFaultsOf(result).at(0).spans, IsEmpty());
  EXPECT_FALSE(PlannedFaultsOf(result).at(0).was_missed);
}

// A log of a fault with these moments, of an instance.
void AddMoments(const std::string& instance,
                std::initializer_list<int64_t> moments, TestResult& result) {
  FaultLog& log =
      (*(*result.mutable_service_logs()->mutable_instance_logs())[instance]
            .mutable_fault_logs())["cut"];
  for (const int64_t moment_ns : moments) {
    FaultTime& time = *log.add_times();
    time.set_begin_timestamp_ns(moment_ns);
    time.set_end_timestamp_ns(moment_ns);
  }
}

TEST(PlannedFaultsTest, AMomentOfSeveralInstancesIsOne) {
  TestResult result = ResultFromText(R"(
    traffic_config {
      server_faults {
        name: "cut"
        service: "server"
        repeat_ns: 1000000
        reset_connections: true
      }
    })");
  AddMoments("server/0", {5'000'020, 6'000'000}, result);
  AddMoments("server/1", {5'000'000, 6'000'090}, result);
  AddMoments("server/2", {5'100'000, 6'300'000, 7'000'000}, result);
  EXPECT_THAT(PlannedFaultsOf(result).at(0).spans,
              ElementsAre(FieldsAre(5'000'000, 5'000'000),
                          FieldsAre(6'000'000, 6'000'000),
                          FieldsAre(7'000'000, 7'000'000)));
  // It happens once: the clocks of the hosts differ.
  result.mutable_traffic_config()->mutable_server_faults(0)->clear_repeat_ns();
  EXPECT_THAT(PlannedFaultsOf(result).at(0).spans,
              ElementsAre(FieldsAre(5'000'000, 5'000'000)));
}

TEST(PlannedFaultsTest, AFaultThatNoInstanceHasSeenWasMissed) {
  TestResult result = ResultFromText(R"(
    traffic_config {
      server_faults { name: "cut" service: "server" reset_connections: true }
    })");
  // Without logs, nobody knows.
  EXPECT_FALSE(PlannedFaultsOf(result).at(0).was_missed);
  EXPECT_TRUE(AnyHappened(PlannedFaultsOf(result)));
  AddMoments("server/0", {}, result);
  EXPECT_TRUE(PlannedFaultsOf(result).at(0).was_missed);
  EXPECT_FALSE(AnyHappened(PlannedFaultsOf(result)));
  AddMoments("server/1", {5}, result);
  EXPECT_FALSE(PlannedFaultsOf(result).at(0).was_missed);
  EXPECT_TRUE(AnyHappened(PlannedFaultsOf(result)));
}

TEST(PlannedFaultsTest, ResultsMayKeepFewerTimesThanThereWere) {
  TestResult result = ResultFromText(R"(
    traffic_config {
      server_faults {
        name: "cut"
        service: "server"
        repeat_ns: 10
        reset_connections: true
      }
    })");
  for (int i = 1; i < results::kMaxFaultTimes; ++i) {
    AddMoments("server/0", {10 * i}, result);
  }
  EXPECT_FALSE(PlannedFaultsOf(result).at(0).has_more_spans);
  AddMoments("server/0", {10 * results::kMaxFaultTimes}, result);
  EXPECT_TRUE(PlannedFaultsOf(result).at(0).has_more_spans);
  EXPECT_EQ(PlannedFaultsOf(result).at(0).spans.size(),
            results::kMaxFaultTimes);
}

TEST(PlannedFaultsTest, AdmissionIsOfServices) {
  const auto admissions = AdmissionsOf(ResultFromText(R"(
    traffic_config {
      services { name: "free" }
      services { name: "server" admission { max_running: 1 } }
    }
    service_logs {
      instance_logs {
        key: "server/0"
        value { admission_log { admitted_count: 3 refused_count: 1 } }
      }
      instance_logs {
        key: "server/1"
        value { admission_log { admitted_count: 5 refused_count: 2 } }
      }
    })"));
  ASSERT_EQ(admissions.size(), 1);
  EXPECT_EQ(admissions[0].service, "server");
  EXPECT_EQ(admissions[0].admitted_count, 8);
  EXPECT_EQ(admissions[0].refused_count, 3);
  EXPECT_EQ(admissions[0].wait_ns.count(), 0);
}

}  // namespace
}  // namespace distbench::report
