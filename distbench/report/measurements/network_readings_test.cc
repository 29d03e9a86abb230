// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/network_readings.h"

#include <string>
#include <vector>

#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NetworkReadingsTest, ConnectionsAreFoldedByServiceSideAndReadings) {
  const TestResult result = ResultFromText(R"(
    service_logs {
      instance_logs {
        key: "client/0"
        value {
          network_settings {
            connection_count: 10
            settings { name: "dscp" asked: "10" found: "10" }
            settings { name: "send_buffer_bytes" asked: "5000" found: "10000" }
          }
          network_settings {
            accepted: true
            connection_count: 1
            settings { name: "no_delay" asked: "off" found: "off" }
          }
        }
      }
      instance_logs {
        key: "client/1"
        value {
          network_settings {
            connection_count: 2
            settings { name: "dscp" asked: "10" found: "0" differs: true }
            settings { name: "send_buffer_bytes" asked: "5000" found: "10000" }
          }
          network_settings {
            connection_count: 12
            settings { name: "dscp" asked: "10" found: "10" }
            settings { name: "send_buffer_bytes" asked: "5000" found: "10000" }
          }
        }
      }
    })");
  std::vector<std::string> lines;
  std::vector<bool> differ;
  for (const ServiceConnections& folded : FoldNetworkSettings(result)) {
    lines.push_back(Describe(folded));
    differ.push_back(folded.differs);
  }
  EXPECT_THAT(
      lines,
      ElementsAre("22 of 24 connections that client made: dscp 10, "
                  "send_buffer_bytes 10000",
                  "2 of 24 connections that client made: dscp 0 (asked: 10), "
                  "send_buffer_bytes 10000",
                  "all 1 connections that client accepted: no_delay off"));
  EXPECT_THAT(differ, ElementsAre(false, true, false));
}

TEST(NetworkReadingsTest, WithoutSettingsThereIsNothing) {
  EXPECT_THAT(FoldNetworkSettings(ResultFromText(R"(service_logs {
                                      instance_logs { key: "c/0" value {} }
                                    })")),
              IsEmpty());
}

}  // namespace
}  // namespace distbench::report
