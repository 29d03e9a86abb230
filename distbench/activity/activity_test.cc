// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <vector>

#include "distbench/activity/activity.h"
#include "distbench/activity/registry.h"
#include "distbench/activity/testing/work_conformance.h"
#include "distbench/base/clock.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

TEST(ActivityTest, EveryDeclaredActivityCanBeMadeAndRun) {
  for (const config::ActivityDeclaration& declaration :
       config::ActivityCatalog()) {
    const config::ActivityPlan plan = PlanOf(declaration);
    ASSERT_EQ(WaitTimeOf(plan, 1).has_value(), declaration.waits);
    if (declaration.waits) continue;
    DoIteration(**MakeActivity(plan, 1), 0);
  }
}

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
