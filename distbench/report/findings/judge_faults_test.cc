#include "distbench/report/findings/testing/judge_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::AllOf;
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

TEST_F(JudgeFaultsTest, FaultsThatWereNeverInEffectAreNoFailures) {
  AddFault("pause");
  auto& logs = *Log().mutable_fault_logs();
  logs["pause"];
  EXPECT_EQ(ExpectOne(Finding::WARN, "planned_faults"),
            "planned but never in effect: pause (server stands still); the "
            "traffic ended before, or servers stood still meanwhile");
  AddFault("other");
  logs["other"].add_times()->set_end_timestamp_ns(1);
  EXPECT_THAT(
      ExpectOne(Finding::WARN, "planned_faults"),
      AllOf(HasSubstr("failed on purpose: other (server stands still). These"),
            HasSubstr("; planned but never in effect: pause (")));
}

}  // namespace
}  // namespace distbench::report
