#include "distbench/products/external/external_findings.h"

#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<Finding> FindingsOf(const std::string& test) {
  TestResult result;
  *result.mutable_traffic_config() =
      base::FromText<DistributedSystemDescription>(test);
  report::FindingList findings;
  JudgeExternalCalls(result, findings);
  return findings.Take();
}

TEST(ExternalFindingsTest, TimePartsOfExternalServersCannotBeKnown) {
  const std::string call =
      "rpc_descriptions { name: 'get' external_call { method: '/p.C/Get' } } ";
  EXPECT_THAT(FindingsOf(call), IsEmpty());
  EXPECT_THAT(FindingsOf("measure_time_parts: true"), IsEmpty());
  const std::vector<Finding> findings =
      FindingsOf(call + "measure_time_parts: true");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].severity(), Finding::NOTE);
  EXPECT_EQ(findings[0].code(), "time_parts_external");
  EXPECT_THAT(findings[0].message(), HasSubstr("get: an external service"));
  EXPECT_THAT(std::string(AdviceForExternalCalls(findings[0].code())),
              Not(IsEmpty()));
  EXPECT_THAT(std::string(AdviceForExternalCalls("late_sends")), IsEmpty());
}

}  // namespace
}  // namespace distbench::external
