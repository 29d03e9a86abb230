#include "distbench/report/findings/testing/judge_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;

class JudgeNetworkTest : public JudgeTest {
 protected:
  NetworkSettingReading& AddReading() {
    ServicePerformanceLog& log =
        (*result_.mutable_service_logs()->mutable_instance_logs())["client/0"];
    NetworkSettingProof& proof = *log.add_network_settings();
    proof.set_connection_count(3);
    NetworkSettingReading& reading = *proof.add_settings();
    reading.set_name("mptcp");
    reading.set_asked("on");
    reading.set_found("on");
    return reading;
  }
};

TEST_F(JudgeNetworkTest, SettingsThatWereFoundAreNothing) {
  AddReading();
  ExpectNothing();
}

TEST_F(JudgeNetworkTest, ADifferentSettingIsAWarning) {
  AddReading();
  NetworkSettingReading& reading = AddReading();
  reading.set_found("fell back to TCP");
  reading.set_differs(true);
  EXPECT_THAT(ExpectOne(Finding::WARN, "network_settings_differ"),
              HasSubstr("3 of 6 connections that client made: mptcp fell back "
                        "to TCP (asked: on). Do not take"));
}

}  // namespace
}  // namespace distbench::report
