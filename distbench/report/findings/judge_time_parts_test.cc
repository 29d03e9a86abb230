#include <cstdint>

#include "distbench/report/findings/testing/judge_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;

// Time parts of RPCs; for `contradicting` of them, the network took no time.
void AddTimeParts(int64_t count, int64_t contradicting,
                  RpcStatistics& statistics) {
  *statistics.mutable_server_queue_ns() = Repeated(100'000, count);
  *statistics.mutable_server_handler_ns() = Repeated(800'000, count);
  stats::LogHistogram network_ns;
  network_ns.RecordN(100'000, count - contradicting);
  network_ns.RecordN(0, contradicting);
  results::EncodeHistogram(network_ns, *statistics.mutable_network_ns());
}

TEST_F(JudgeTest, TimePartsOfAllRpcsAreNoFinding) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  AddTimeParts(3000, 0, Statistics());
  ExpectNothing();
}

TEST_F(JudgeTest, TimePartsThatNoServerReportedAreAWarning) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  EXPECT_THAT(ExpectOne(Finding::WARN, "time_parts_missing"),
              HasSubstr("for 3000 of 3000 RPCs"));
}

TEST_F(JudgeTest, TimePartsOfServersOutsideOfTheTestAreNotExpected) {
  DistributedSystemDescription& test = *result_.mutable_traffic_config();
  test.mutable_rpc_descriptions(0)->mutable_external_call();
  ExpectNothing();
  test.set_measure_time_parts(true);
  ExpectNothing();
}

TEST_F(JudgeTest, OneRpcWithoutTimePartsIsAWarning) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  AddTimeParts(2999, 0, Statistics());
  EXPECT_THAT(ExpectOne(Finding::WARN, "time_parts_missing"),
              HasSubstr("for 1 of 3000 RPCs"));
}

TEST_F(JudgeTest, SomeContradictionsOfClocksAreANote) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  AddTimeParts(3000, 30, Statistics());
  EXPECT_THAT(ExpectOne(Finding::NOTE, "time_parts_contradict"),
              HasSubstr("for 30 RPCs (1.0 %)"));
}

TEST_F(JudgeTest, ManyContradictionsOfClocksAreAWarning) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  AddTimeParts(3000, 31, Statistics());
  ExpectOne(Finding::WARN, "time_parts_contradict");
}

}  // namespace
}  // namespace distbench::report
