#include <ctime>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "distbench/activity/registry.h"
#include "distbench/config/activity_catalog.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

ActivityPlan PlanOf(
    const std::string& function,
    const std::vector<std::pair<std::string, int64_t>>& settings) {
  ActivityPlan plan;
  plan.function = function;
  for (const auto& [name, value] : settings) {
    plan.settings.push_back({.name = name, .int64_value = value});
  }
  return plan;
}

// Every setting that the catalog declares, at its default or least value.
ActivityPlan PlanOf(const ActivityDeclaration& declaration) {
  ActivityPlan plan;
  plan.function = declaration.name;
  for (const SettingDeclaration& setting : declaration.settings.settings) {
    plan.settings.push_back(
        {.name = setting.name,
         .int64_value = setting.required
                            ? setting.minimum
                            : std::get<int64_t>(setting.default_value)});
  }
  return plan;
}

int64_t ThreadCpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

TEST(ActivityTest, EveryDeclaredActivityCanBeMadeAndRun) {
  for (const ActivityDeclaration& declaration : ActivityCatalog()) {
    const ActivityPlan plan = PlanOf(declaration);
    if (ActivityWaitNs(plan) > 0) continue;
    MakeActivity(plan, 1)->RunIteration();
  }
}

class WorkTest : public testing::TestWithParam<ActivityPlan> {};
INSTANTIATE_TEST_SUITE_P(
    Activities, WorkTest,
    testing::Values(PlanOf("ConsumeCpu", {{"array_size", 5000}}),
                    PlanOf("PolluteDataCache",
                           {{"array_size", 100'000},
                            {"array_reads_per_iteration", 20'000}}),
                    PlanOf("PolluteInstructionCache",
                           {{"function_invocations_per_iteration", 20'000}})),
    [](const auto& info) { return info.param.function; });

TEST_P(WorkTest, EachIterationChangesTheChecksum) {
  std::unique_ptr<Activity> activity = MakeActivity(GetParam(), 1);
  std::set<uint64_t> checksums = {activity->checksum()};
  for (int i = 0; i < 100; ++i) {
    activity->RunIteration();
    EXPECT_TRUE(checksums.insert(activity->checksum()).second);
  }
}

TEST_P(WorkTest, TheSeedDecidesTheWork) {
  std::unique_ptr<Activity> one = MakeActivity(GetParam(), 1);
  std::unique_ptr<Activity> same = MakeActivity(GetParam(), 1);
  std::unique_ptr<Activity> other = MakeActivity(GetParam(), 2);
  one->RunIteration();
  same->RunIteration();
  other->RunIteration();
  EXPECT_EQ(one->checksum(), same->checksum());
  EXPECT_NE(one->checksum(), other->checksum());
}

// Work that the compiler had removed would take no time at all.
TEST_P(WorkTest, WorkTakesCpuTime) {
  std::unique_ptr<Activity> activity = MakeActivity(GetParam(), 1);
  const int64_t before_ns = ThreadCpuNs();
  for (int i = 0; i < 100; ++i) activity->RunIteration();
  // At least a nanosecond for each of the elements or functions.
  EXPECT_GT(ThreadCpuNs() - before_ns, 100 * 5000);
}

TEST(ActivityTest, SpinForBurnsWhatItSays) {
  const ActivityPlan plan = PlanOf("SpinFor", {{"duration_us", 2000}});
  EXPECT_EQ(ActivityWaitNs(plan), 0);
  std::unique_ptr<Activity> spin = MakeActivity(plan, 1);
  const int64_t before_ns = ThreadCpuNs();
  spin->RunIteration();
  EXPECT_GE(ThreadCpuNs() - before_ns, 2'000'000);
}

TEST(ActivityTest, SleepForIsAWait) {
  EXPECT_EQ(ActivityWaitNs(PlanOf("SleepFor", {{"duration_us", 2000}})),
            2'000'000);
}

}  // namespace
}  // namespace distbench
