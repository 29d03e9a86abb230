#include "distbench/activity/test_calibration.h"

#include <cstdint>
#include <string>

#include "distbench/activity/thread_cpu_time.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

DistributedSystemDescription PointerChasingTest() {
  TestSequence sequence;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(tests {
             services { name: "client" count: 1 }
             activity_configs {
               name: "chase"
               activity_settings {
                 name: "activity_func" string_value: "PointerChase"
               }
               activity_settings { name: "hops" int64_value: 100 }
             }
             actions { name: "work" activity_config_name: "chase" }
             action_lists { name: "client" action_names: "work" }
           })pb",
      &sequence));
  const auto checked = CheckTestSequence(sequence);
  EXPECT_TRUE(checked.ok()) << checked.status();
  return checked->tests(0);
}

TEST(TestCalibrationTest, SizesAnActivityInItsPlace) {
  DistributedSystemDescription test = PointerChasingTest();
  const auto sized =
      SizeInTest(test, 0, 1e6, 0.5,
                 {.rounds = 3, .round_ns = 2e6, .cpu_now_ns = &ThreadCpuNs});
  ASSERT_TRUE(sized.ok()) << sized.status();
  EXPECT_EQ(test.activity_configs(0).DebugString(),
            sized->config.DebugString());
  EXPECT_THAT(test.attributes().at("calibration:chase"), StartsWith("hops "));
  EXPECT_THAT(test.attributes().at("calibration:chase"),
              HasSubstr(CostText(sized->cost)));
}

TEST(TestCalibrationTest, LeavesTheTestAloneIfTheTargetCannotBeMet) {
  DistributedSystemDescription test = PointerChasingTest();
  const std::string before = test.DebugString();
  // A clock by which an iteration takes a second, however many hops it has.
  int64_t now_ns = 0;
  const auto sized = SizeInTest(
      test, 0, 1e6, 0.01,
      {.rounds = 1, .round_ns = 1, .cpu_now_ns = [&] {
         return now_ns += 1'000'000'000;
       }});
  EXPECT_FALSE(sized.ok());
  EXPECT_EQ(test.DebugString(), before);
}

}  // namespace
}  // namespace distbench
