// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/calibrate/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "distbench/base/clock.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::calibrate {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

ActivityConfig ConfigOf(const std::string& function,
                        const std::map<std::string, int64_t>& settings) {
  ActivityConfig config;
  config.set_name("work");
  NamedSetting& named = *config.add_activity_settings();
  named.set_name(config::kActivityFunctionSetting);
  named.set_string_value(function);
  for (const auto& [name, value] : settings) {
    NamedSetting& setting = *config.add_activity_settings();
    setting.set_name(name);
    setting.set_int64_value(value);
  }
  return config;
}

int64_t ValueOf(const ActivityConfig& config, const std::string& name) {
  for (const NamedSetting& setting : config.activity_settings()) {
    if (setting.name() == name) return setting.int64_value();
  }
  return -1;
}

ActivityCost CostOf(double ns) {
  return {.median_ns = ns, .min_ns = ns, .max_ns = ns, .iteration_count = 1};
}

TEST(SizeToTargetTest, FollowsALinearCost) {
  int measurements = 0;
  const auto sized = SizeToTarget(
      ConfigOf("PointerChase", {{"hops", 100}}), 5e6, 0.01,
      [&](const ActivityConfig& config) -> absl::StatusOr<ActivityCost> {
        ++measurements;
        return CostOf(1000 + 80.0 * ValueOf(config, "hops"));
      });
  ASSERT_TRUE(sized.ok()) << sized.status();
  EXPECT_NEAR(ValueOf(sized->config, "hops"), (5e6 - 1000) / 80, 700);
  EXPECT_NEAR(sized->cost.median_ns, 5e6, 5e4);
  ASSERT_EQ(sized->changed.size(), 1u);
  EXPECT_EQ(sized->changed[0].name(), "hops");
  EXPECT_LE(measurements, 4);
}

// A fixed part, and a cost that grows faster than the size.
TEST(SizeToTargetTest, FollowsACurve) {
  const auto sized = SizeToTarget(
      ConfigOf("ConsumeCpu", {}), 1e7, 0.02,
      [](const ActivityConfig& config) -> absl::StatusOr<ActivityCost> {
        const auto size = static_cast<double>(
            std::max<int64_t>(ValueOf(config, "array_size"), 1000));
        return CostOf(20'000 + 3 * size * std::log2(size));
      });
  ASSERT_TRUE(sized.ok()) << sized.status();
  EXPECT_NEAR(sized->cost.median_ns, 1e7, 2e5);
}

TEST(SizeToTargetTest, ScalesAllThatMatterTogether) {
  const auto sized = SizeToTarget(
      ConfigOf("FeatureExtract", {{"hash_lookups", 100},
                                  {"tree_walks", 0},
                                  {"bitset_intersections", 0},
                                  {"embedding_rows_gathered", 10},
                                  {"function_calls", 0}}),
      1e6, 0.01,
      [](const ActivityConfig& config) -> absl::StatusOr<ActivityCost> {
        return CostOf(10.0 * ValueOf(config, "hash_lookups") +
                      50.0 * ValueOf(config, "embedding_rows_gathered"));
      });
  ASSERT_TRUE(sized.ok()) << sized.status();
  EXPECT_EQ(ValueOf(sized->config, "tree_walks"), 0);
  EXPECT_NEAR(ValueOf(sized->config, "hash_lookups"),
              10 * ValueOf(sized->config, "embedding_rows_gathered"), 10);
}

TEST(SizeToTargetTest, WhatFitsIsLeftAlone) {
  const ActivityConfig config = ConfigOf("SpinFor", {{"duration_us", 50}});
  const auto sized =
      SizeToTarget(config, 50'000, 0.05,
                   [](const ActivityConfig&) -> absl::StatusOr<ActivityCost> {
                     return CostOf(51'000);
                   });
  ASSERT_TRUE(sized.ok()) << sized.status();
  EXPECT_TRUE(sized->changed.empty());
}

TEST(SizeToTargetTest, SaysWhenTheTargetIsOutOfReach) {
  const auto too_small = SizeToTarget(
      ConfigOf("Serialize", {{"stories", 3}}), 1000, 0.05,
      [](const ActivityConfig& config) -> absl::StatusOr<ActivityCost> {
        return CostOf(70'000.0 * ValueOf(config, "stories"));
      });
  EXPECT_THAT(too_small.status().message(),
              HasSubstr("1.0 us cannot be reached: with stories 1 an "
                        "iteration costs 70.0 us"));
  const auto too_large = SizeToTarget(
      ConfigOf("Serialize", {{"stories", 3}}), 1e15, 0.05,
      [](const ActivityConfig& config) -> absl::StatusOr<ActivityCost> {
        return CostOf(70'000.0 * ValueOf(config, "stories"));
      });
  EXPECT_THAT(too_large.status().message(), HasSubstr("stories 1000000"));
}

TEST(SizeToTargetTest, GivesUpOnNoise) {
  int measurements = 0;
  const auto sized =
      SizeToTarget(ConfigOf("PointerChase", {}), 1e6, 0.01,
                   [&](const ActivityConfig&) -> absl::StatusOr<ActivityCost> {
                     return CostOf(++measurements % 2 == 0 ? 2e6 : 4e5);
                   });
  EXPECT_THAT(sized.status().message(), HasSubstr("quieter machine"));
  EXPECT_EQ(measurements, 10);
}

TEST(SizeToTargetTest, WaitsHaveNoCost) {
  const auto sized =
      SizeToTarget(ConfigOf("Wait", {{"mean_us", 5}}), 1e6, 0.01,
                   [](const ActivityConfig&) -> absl::StatusOr<ActivityCost> {
                     return CostOf(1);
                   });
  EXPECT_THAT(sized.status().message(), HasSubstr("takes no CPU time"));
}

// Takes as long as the number of its iterations says.
class Slowing final : public activity::Activity {
 public:
  activity::Work DoPart(uint64_t iteration, int, int) override {
    now_ns += 100 + static_cast<int64_t>(iteration / 10);
    return {};
  }

  int64_t now_ns = 0;
};

TEST(MeasureCostTest, TellsMedianAndExtremesOfRounds) {
  Slowing activity;
  const ActivityCost cost = MeasureCost(
      activity, {.rounds = 3, .round_ns = 10'000, .cpu_now_ns = [&] {
                   return activity.now_ns;
                 }});
  EXPECT_LT(cost.min_ns, cost.median_ns);
  EXPECT_LT(cost.median_ns, cost.max_ns);
  EXPECT_NEAR(cost.min_ns, 105, 3);
  EXPECT_GT(cost.iteration_count, 200);
}

DistributedSystemDescription PointerChasingTest() {
  TestSequence sequence;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(tests {
             services { name: "client" count: 1 }
             activity_configs {
               name: "chase"
               activity_settings {
                 name: "activity_func"
                 string_value: "PointerChase"
               }
               activity_settings { name: "hops" int64_value: 100 }
             }
             actions { name: "work" activity_config_name: "chase" }
             action_lists { name: "client" action_names: "work" }
           })pb",
      &sequence));
  const auto checked = config::CheckTestSequence(sequence);
  EXPECT_TRUE(checked.ok()) << checked.status();
  return checked->tests(0);
}

TEST(TestCalibrationTest, SizesAnActivityInItsPlace) {
  DistributedSystemDescription test = PointerChasingTest();
  const auto sized = SizeInTest(
      test, 0, 1e6, 0.5,
      {.rounds = 3, .round_ns = 2e6, .cpu_now_ns = &base::ThreadCpuNs});
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
  const auto sized = SizeInTest(test, 0, 1e6, 0.01,
                                {.rounds = 1, .round_ns = 1, .cpu_now_ns = [&] {
                                   return now_ns += 1'000'000'000;
                                 }});
  EXPECT_FALSE(sized.ok());
  EXPECT_EQ(test.DebugString(), before);
}

}  // namespace
}  // namespace distbench::calibrate
