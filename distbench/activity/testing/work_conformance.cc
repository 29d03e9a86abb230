// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/testing/work_conformance.h"

#include <cstdint>
#include <memory>
#include <set>

#include "distbench/activity/activity.h"
#include "distbench/activity/registry.h"
#include "distbench/base/clock.h"

namespace distbench::activity {

config::ActivityPlan PlanOf(const config::ActivityDeclaration& declaration) {
  config::ActivityPlan plan;
  plan.function = declaration.name;
  for (const config::SettingDeclaration& setting :
       declaration.settings.settings) {
    config::SettingValue& value = plan.settings[setting.name];
    value = setting.default_value;
    if (setting.required) value = setting.minimum;
    // The only one that tests may write to.
    if (setting.name == "directory") value = testing::TempDir();
  }
  return plan;
}

config::ActivityPlan PlanOf(const std::string& function, int parallelism,
                            const std::map<std::string, int64_t>& settings) {
  config::ActivityPlan plan = PlanOf(*config::FindActivity(function));
  for (auto& [name, value] : plan.settings) {
    const auto other = settings.find(name);
    if (other != settings.end()) value = other->second;
    if (name == "parallelism") value = int64_t{parallelism};
  }
  return plan;
}

TEST_P(WorkTest, EachIterationHasAChecksumOfItsOwn) {
  std::unique_ptr<Activity> activity = MakeActivity(GetParam(), 1).value();
  std::set<uint64_t> checksums;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(checksums.insert(DoIteration(*activity, i).checksum).second);
  }
}

TEST_P(WorkTest, TheNumberDecidesTheWorkWhateverWasDoneBefore) {
  std::unique_ptr<Activity> one = MakeActivity(GetParam(), 1).value();
  std::unique_ptr<Activity> same = MakeActivity(GetParam(), 1).value();
  for (int i = 0; i < 5; ++i) DoIteration(*one, i);
  EXPECT_EQ(DoIteration(*one, 5).checksum, DoIteration(*same, 5).checksum);
}

// The plan's own seed, or else the one that is passed.
TEST_P(WorkTest, TheSeedDecidesTheWork) {
  config::ActivityPlan reseeded = GetParam();
  if (reseeded.settings.contains("seed"))
    reseeded.settings["seed"] = int64_t{77};
  std::unique_ptr<Activity> one = MakeActivity(GetParam(), 1).value();
  std::unique_ptr<Activity> other = MakeActivity(reseeded, 2).value();
  EXPECT_NE(DoIteration(*one, 0).checksum, DoIteration(*other, 0).checksum);
}

// If the compiler had removed the work, it would take no time at all.
TEST_P(WorkTest, WorkTakesCpuTime) {
  std::unique_ptr<Activity> activity = MakeActivity(GetParam(), 1).value();
  const int64_t before_ns = base::ThreadCpuNs();
  for (int i = 0; i < 100; ++i) DoIteration(*activity, i);
  // The least work is to read 200 kB, which no CPU does in half a microsecond.
  EXPECT_GT(base::ThreadCpuNs() - before_ns, 100 * 500);
}

}  // namespace distbench::activity
