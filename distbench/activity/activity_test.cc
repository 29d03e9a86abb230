#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "distbench/activity/activity.h"
#include "distbench/activity/registry.h"
#include "distbench/base/cpu_time.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

// All settings that the catalog declares, at their defaults or minima.
config::ActivityPlan PlanOf(const config::ActivityDeclaration& declaration) {
  config::ActivityPlan plan;
  plan.function = declaration.name;
  for (const config::SettingDeclaration& setting :
       declaration.settings.settings) {
    config::ActivitySetting& value = plan.settings.emplace_back();
    value.name = setting.name;
    if (setting.required) {
      value.int64_value = setting.minimum;
    } else if (std::holds_alternative<int64_t>(setting.default_value)) {
      value.int64_value = std::get<int64_t>(setting.default_value);
    } else {
      value.string_value = std::get<std::string>(setting.default_value);
    }
    // The only one that tests may write to.
    if (setting.name == "directory") value.string_value = testing::TempDir();
  }
  return plan;
}

TEST(ActivityTest, EveryDeclaredActivityCanBeMadeAndRun) {
  for (const config::ActivityDeclaration& declaration :
       config::ActivityCatalog()) {
    const config::ActivityPlan plan = PlanOf(declaration);
    ASSERT_EQ(WaitTimeOf(plan, 1).has_value(), declaration.waits);
    if (declaration.waits) continue;
    DoIteration(**MakeActivity(plan, 1), 0);
  }
}

// Same, with some settings at other values, and with several parts.
config::ActivityPlan PlanOf(const std::string& function, int parallelism,
                            const std::map<std::string, int64_t>& settings) {
  config::ActivityPlan plan = PlanOf(*config::FindActivity(function));
  for (config::ActivitySetting& setting : plan.settings) {
    const auto other = settings.find(setting.name);
    if (other != settings.end()) setting.int64_value = other->second;
    if (setting.name == "parallelism") setting.int64_value = parallelism;
  }
  return plan;
}

class WorkTest : public testing::TestWithParam<config::ActivityPlan> {};
INSTANTIATE_TEST_SUITE_P(
    Activities, WorkTest,
    testing::Values(
        PlanOf("ConsumeCpu", 1, {{"array_size", 5000}}),
        PlanOf("PolluteDataCache", 1,
               {{"array_size", 100'000},
                {"array_reads_per_iteration", 20'000}}),
        PlanOf("PolluteInstructionCache", 1,
               {{"function_invocations_per_iteration", 20'000}}),
        PlanOf("FeatureExtract", 3,
               {{"hash_entries", 1000},
                {"tree_nodes", 1000},
                {"embedding_rows", 1000}}),
        PlanOf("PageRank", 2, {{"nodes", 2000}, {"iterations", 2}}),
        PlanOf("Compress", 3, {{"bytes", 20'000}, {"corpus_bytes", 100'000}}),
        PlanOf("Decompress", 2, {{"bytes", 20'000}, {"corpus_bytes", 100'000}}),
        PlanOf("Serialize", 2, {{"stories", 3}, {"generate", 1}}),
        PlanOf("Deserialize", 2, {{"stories", 3}}),
        PlanOf("PointerChase", 4, {{"bytes", 640'000}, {"hops", 10'000}}),
        PlanOf("BurnCpu", 1, {{"operations", 20'000}}),
        PlanOf("MemoryBandwidth", 1,
               {{"bytes", 1'000'000}, {"bytes_per_iteration", 200'000}}),
        PlanOf("CacheThrash", 1, {{"bytes", 640'000}, {"accesses", 10'000}}),
        PlanOf("Infer", 2, {{"layers", 2}, {"width", 64}}),
        PlanOf("Disk", 1,
               {{"data_bytes", 400'000},
                {"operations", 3},
                {"write_percent", 50}}),
        PlanOf("Storage", 2,
               {{"file_set_bytes", 400'000},
                {"file_bytes", 8192},
                {"hash_bytes", 50'000}}),
        PlanOf("FeatureQuery", 2, {{"rows", 1000}})),
    [](const auto& info) { return info.param.function; });

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
  for (config::ActivitySetting& setting : reseeded.settings) {
    if (setting.name == "seed") setting.int64_value = 77;
  }
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

TEST(ActivityTest, SpinForBurnsWhatItSays) {
  const config::ActivityPlan plan =
      PlanOf("SpinFor", 1, {{"duration_us", 2000}});
  std::unique_ptr<Activity> spin = MakeActivity(plan, 1).value();
  const int64_t before_ns = base::ThreadCpuNs();
  DoIteration(*spin, 0);
  EXPECT_GE(base::ThreadCpuNs() - before_ns, 2'000'000);
}

TEST(ActivityTest, SleepForIsAWait) {
  const auto time =
      WaitTimeOf(PlanOf("SleepFor", 1, {{"duration_us", 2000}}), /*seed=*/1);
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->Ns(0), 2'000'000);
}

TEST(ActivityTest, SharesDivideAWhole) {
  int64_t next = 0;
  for (int part = 0; part < 7; ++part) {
    const Share share = ShareOf(100, part, 7);
    EXPECT_EQ(share.begin, next);
    EXPECT_GE(share.size(), 14);
    EXPECT_LE(share.size(), 15);
    next = share.end;
  }
  EXPECT_EQ(next, 100);
}

}  // namespace
}  // namespace distbench::activity
