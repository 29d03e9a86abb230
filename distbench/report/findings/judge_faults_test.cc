#include "distbench/report/findings/testing/judge_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench {
namespace {

using ::testing::HasSubstr;

class JudgeFaultsTest : public JudgeTest {
 protected:
  void AddFault(const std::string& name) {
    ServerFault& fault = *result_.mutable_traffic_config()->add_server_faults();
    fault.set_name(name);
    fault.set_service("server");
    fault.set_freeze(true);
  }
};

TEST_F(JudgeFaultsTest, AHealthySystemIsNothing) { ExpectNothing(); }

TEST_F(JudgeFaultsTest, PlannedFaultsAreAWarning) {
  AddFault("pause");
  EXPECT_THAT(ExpectOne(Finding::WARN, "planned_faults"),
              HasSubstr("failed on purpose: pause (server stands still). These "
                        "are not the numbers of a healthy system"));
}

TEST_F(JudgeFaultsTest, ManyAreNotAllNamed) {
  for (const char* name : {"a", "b", "c", "d"}) AddFault(name);
  EXPECT_THAT(ExpectOne(Finding::WARN, "planned_faults"),
              HasSubstr("c (server stands still) and others."));
}

}  // namespace
}  // namespace distbench
