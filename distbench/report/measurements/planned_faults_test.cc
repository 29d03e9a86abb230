#include "distbench/report/measurements/planned_faults.h"

#include <string>

#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
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
}  // namespace distbench
