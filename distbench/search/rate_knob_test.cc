#include "distbench/search/rate_knob.h"

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::HasSubstr;

DistributedSystemDescription LoopTest(const std::string& iterations) {
  DistributedSystemDescription test;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(name: "t"
         services { name: "client" count: 4 }
         services { name: "server" count: 1 }
         action_lists { name: "client" action_names: "send" }
         action_lists { name: "nested" action_names: "burst" }
         actions { name: "burst" iterations { open_loop_interval_ns: 5000 } }
         actions { name: "send" iterations { )" +
          iterations + "} }",
      &test));
  return test;
}

TEST(RateKnobTest, AddsUpWhatTheInstancesOfMainListsSend) {
  const auto knob = RateKnob::Make(LoopTest("open_loop_interval_ns: 1000000"));
  ASSERT_TRUE(knob.ok()) << knob.status();
  EXPECT_DOUBLE_EQ(knob->base_load(), 4000);
}

TEST(RateKnobTest, ScalesEveryOpenLoopAndSetsHowLongItRuns) {
  const auto knob = RateKnob::Make(
      LoopTest("open_loop_interval_ns: 1000000 max_iteration_count: 7 "
           "warmup_iterations: 3"));
  ASSERT_TRUE(knob.ok()) << knob.status();
  const DistributedSystemDescription scaled = knob->At(
      {.load = 8000, .warmup = absl::Seconds(1), .measured = absl::Seconds(4)});
  const Iterations& nested = scaled.actions(0).iterations();
  EXPECT_EQ(nested.open_loop_interval_ns(), 2500);
  EXPECT_FALSE(nested.has_max_duration_us());
  const Iterations& main = scaled.actions(1).iterations();
  EXPECT_EQ(main.open_loop_interval_ns(), 500'000);
  EXPECT_EQ(main.max_duration_us(), 5'000'000);
  EXPECT_EQ(main.warmup_ns(), 1'000'000'000);
  EXPECT_FALSE(main.has_max_iteration_count());
  EXPECT_FALSE(main.has_warmup_iterations());
  EXPECT_EQ(scaled.attributes().at("test_timeout"), "65");
}

TEST(RateKnobTest, RefusesATestWithoutALoadToScale) {
  const auto knob = RateKnob::Make(LoopTest("max_parallel_iterations: 10"));
  ASSERT_FALSE(knob.ok());
  EXPECT_THAT(std::string(knob.status().message()),
              HasSubstr("open_loop_interval_ns"));
}

}  // namespace
}  // namespace distbench
