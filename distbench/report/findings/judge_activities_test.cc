#include "distbench/report/findings/testing/judge_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;

TEST_F(JudgeTest, WorkThatTheSystemRefusedIsAWarning) {
  ActivityLog& log = (*Log().mutable_activity_logs())["hog"];
  ActivityMetric& iterations = *log.add_activity_metrics();
  iterations.set_name("iteration_count");
  iterations.set_value_int(20);
  ActivityMetric& failed = *log.add_activity_metrics();
  failed.set_name("failed_operations");
  failed.set_value_int(3);
  EXPECT_THAT(ExpectOne(Finding::WARN, "failed_operations"),
              HasSubstr("hog: 3 operations failed, in 20 iterations"));
  failed.set_value_int(0);
  ExpectNothing();
}

}  // namespace
}  // namespace distbench::report
