// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/cell_config.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/protection/experiment/cells.h"
#include "distbench/products/protection/experiment/services.h"
#include "distbench/products/protection/language/testing/random_experiment.h"
#include "distbench/products/protection/testing/example_experiment.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ExperimentCell Cell(const std::string& text) {
  return base::FromText<ExperimentCell>(text);
}

DistributedSystemDescription MakeCell(const ExperimentPlan& plan,
                                      const std::string& cell) {
  const auto test = CellTest(plan, Cell(cell), absl::Seconds(10));
  EXPECT_TRUE(test.ok()) << test.status();
  return test.value_or(DistributedSystemDescription());
}

void ExpectSame(const DistributedSystemDescription& actual,
                const std::string& expected) {
  google::protobuf::util::MessageDifferencer differencer;
  std::string differences;
  differencer.ReportDifferencesToString(&differences);
  EXPECT_TRUE(differencer.Compare(
      base::FromText<DistributedSystemDescription>(expected), actual))
      << differences;
}

// What every cell of the example has, and what those with traffic have.
constexpr char kServices[] = R"(
  random_seed: 7
  workers_per_instance: 2
  sample_memory_bytes: 0
  services { name: "client" count: 1 x_size: 1 }
  services { name: "server" count: 2 x_size: 2 }
  activity_configs {
    name: "burn"
    activity_settings { name: "activity_func" string_value: "ConsumeCpu" }
  }
)";

constexpr char kQuery[] = R"(
  rpc_descriptions {
    name: "query" client: "client" server: "server" fanout_filter: "random"
  })";

// What the antagonist adds, except for its times.
constexpr char kHogOfBothNodes[] = R"(
  services { name: "antagonist_hog" count: 2 x_size: 2 }
  node_service_bundles {
    key: "node1" value { services: ["server/0", "antagonist_hog/0"] }
  }
  node_service_bundles {
    key: "node2" value { services: ["server/1", "antagonist_hog/1"] }
  }
  activity_configs {
    name: "antagonist_hog"
    pool_name: "antagonist_hog"
    activity_settings { name: "activity_func" string_value: "ConsumeCpu" }
  }
  activity_pools { name: "antagonist_hog" size: 2 }
)";

constexpr char kHogsList[] = R"(
  action_lists {
    name: "antagonist_hog"
    action_names: ["antagonist_hog/0", "antagonist_hog/1"]
  }
)";

TEST(CellTestTest, TheAntagonistRunsBesideTheSubjectUnderControls) {
  const ExperimentPlan plan = ExamplePlan("subject { loads: '50/s' }");
  ExpectSame(MakeCell(plan,
                      "controls: 'on' antagonist: 'hog' load: '50/s' "
                      "load_per_second: 50"),
             absl::StrCat(kServices, kQuery, kHogOfBothNodes, R"(
               name: "t-on-hog-50_per_s"
               attributes { key: "test_timeout" value: "105" }
               action_lists { name: "client" action_names: "ask" }
               action_lists { name: "query" }
               actions {
                 name: "ask" rpc_name: "query"
                 iterations {
                   open_loop_interval_ns: 20000000
                   max_duration_us: 45000000
                   warmup_ns: 0
                 }
               })",
                          kHogsList, R"(
               actions {
                 name: "antagonist_hog/0"
                 activity_config_name: "antagonist_hog"
                 delay_distribution_name: "antagonist_hog/0"
                 iterations {
                   max_duration_us: 20000000 max_parallel_iterations: 1
                 }
               }
               actions {
                 name: "antagonist_hog/1"
                 activity_config_name: "antagonist_hog"
                 delay_distribution_name: "antagonist_hog/1"
                 iterations {
                   max_duration_us: 18000000 max_parallel_iterations: 1
                 }
               }
               delay_distribution_configs {
                 name: "antagonist_hog/0"
                 pmf_points { pmf: 1 data_points { exact: 20000000000 } }
               }
               delay_distribution_configs {
                 name: "antagonist_hog/1"
                 pmf_points { pmf: 1 data_points { exact: 22000000000 } }
               }
               controls {
                 name: "on"
                 groups { services: "server" cpu_weight: 500 }
                 groups { services: "antagonist_*" cpu_weight: 10 }
                 strict: true
               })"));
}

TEST(CellTestTest, WithoutAnAntagonistTheSubjectRunsAsEver) {
  const ExperimentPlan plan = ExamplePlan();
  ExpectSame(MakeCell(plan, "controls: 'on'"),
             absl::StrCat(kServices, kQuery, R"(
               name: "t-on"
               attributes { key: "test_timeout" value: "105" }
               node_service_bundles {
                 key: "node1" value { services: "server/0" }
               }
               node_service_bundles {
                 key: "node2" value { services: "server/1" }
               }
               action_lists { name: "client" action_names: "ask" }
               action_lists { name: "query" }
               actions {
                 name: "ask" rpc_name: "query"
                 iterations {
                   open_loop_interval_ns: 10000000
                   max_duration_us: 45000000
                   warmup_ns: 0
                 }
               }
               controls {
                 name: "on"
                 groups { services: "server" cpu_weight: 500 }
                 strict: true
               })"));
  EXPECT_FALSE(MakeCell(plan, "controls: 'off'").has_controls());
}

TEST(CellTestTest, AloneTheAntagonistBeginsAtOnce) {
  const ExperimentPlan plan = ExamplePlan();
  ExpectSame(MakeCell(plan, "antagonist: 'hog' purpose: 'antagonist_alone'"),
             absl::StrCat(kServices, kHogOfBothNodes, R"(
        name: "t-hog-antagonist_alone"
        attributes { key: "test_timeout" value: "80" })",
                          kHogsList, R"(
        actions {
          name: "antagonist_hog/0"
          activity_config_name: "antagonist_hog"
          iterations { max_duration_us: 20000000 max_parallel_iterations: 1 }
        }
        actions {
          name: "antagonist_hog/1"
          activity_config_name: "antagonist_hog"
          delay_distribution_name: "antagonist_hog/1"
          iterations { max_duration_us: 18000000 max_parallel_iterations: 1 }
        }
        delay_distribution_configs {
          name: "antagonist_hog/1"
          pmf_points { pmf: 1 data_points { exact: 2000000000 } }
        })"));
}

TEST(CellTestTest, ARateGrowsInTenSteps) {
  const ExperimentPlan plan = ExamplePlan(
      "antagonists { name: 'slow' activity: 'burn' threads: 3 rate: '100/s' "
      "ramp: '10s' }");
  const DistributedSystemDescription test =
      MakeCell(plan, "controls: 'off' antagonist: 'slow'");
  ASSERT_THAT(test.actions(), SizeIs(1 + kRateRampSteps));
  const Action& last = test.actions(kRateRampSteps);
  EXPECT_EQ(last.iterations().open_loop_interval_ns(), 100'000'000);
  EXPECT_EQ(last.iterations().max_parallel_iterations(), 3);
  EXPECT_EQ(last.iterations().max_duration_us(), 11'000'000);
  EXPECT_EQ(test.delay_distribution_configs(kRateRampSteps - 1)
                .pmf_points(0)
                .data_points(0)
                .exact(),
            29'000'000'000);
  EXPECT_EQ(test.activity_pools(0).size(), 3);
}

// Bursts of loops side by side would be at the same time, and as large as all
// of them together.
TEST(CellTestTest, TheBurstsOfARampFollowEachOther) {
  const ExperimentPlan plan = ExamplePlan(
      "antagonists { name: 'fast' activity: 'incast' threads: 3 ramp: '10s' "
      "rate: '10/s' message_size: '1kB' }"
      "antagonists { name: 'slow' activity: 'incast' ramp: '4s' rate: '1/s' "
      "message_size: '1kB' }");
  const auto iterations_of = [&](const std::string& antagonist) {
    const DistributedSystemDescription test = MakeCell(
        plan, absl::StrCat("controls: 'off' antagonist: '", antagonist, "'"));
    std::vector<Iterations> all;
    for (const Action& action : test.actions()) {
      if (action.name() != "ask") all.push_back(action.iterations());
    }
    return all;
  };
  const std::vector<Iterations> fast = iterations_of("fast");
  ASSERT_THAT(fast, SizeIs(kRateRampSteps));
  EXPECT_EQ(fast.front().open_loop_interval_ns(), 1'000'000'000);
  EXPECT_EQ(fast.front().max_duration_us(), 1'000'000);
  EXPECT_EQ(fast.front().max_parallel_iterations(), 3);
  EXPECT_EQ(fast.back().open_loop_interval_ns(), 100'000'000);
  EXPECT_EQ(fast.back().max_duration_us(), 11'000'000);
  // No step is too short for a burst, which would then come later.
  const std::vector<Iterations> slow = iterations_of("slow");
  ASSERT_THAT(slow, SizeIs(2));
  EXPECT_EQ(slow.front().open_loop_interval_ns(), 2'000'000'000);
  EXPECT_EQ(slow.front().max_duration_us(), 2'000'000);
  EXPECT_EQ(slow.back().open_loop_interval_ns(), 1'000'000'000);
  EXPECT_EQ(slow.back().max_duration_us(), 18'000'000);
}

TEST(CellTestTest, SendersOfAnIncastHaveNodesOfTheirOwn) {
  const ExperimentPlan plan = ExamplePlan(
      "antagonists { name: 'burst' activity: 'incast' senders: 3 threads: 5 "
      "message_size: '64KiB' rate: '10/s' }");
  const DistributedSystemDescription test =
      MakeCell(plan, "controls: 'off' antagonist: 'burst'");
  ASSERT_THAT(test.services(), SizeIs(4));
  EXPECT_EQ(test.services(2).name(), "antagonist_burst");
  EXPECT_EQ(test.services(2).count(), 2);
  EXPECT_EQ(test.services(3).name(), "antagonist_burst_sender");
  EXPECT_EQ(test.services(3).count(), 3);
  for (const auto& [alias, bundle] : test.node_service_bundles()) {
    EXPECT_THAT(bundle.services(),
                ElementsAre(HasSubstr("server/"), HasSubstr("burst/")));
  }
  ASSERT_THAT(test.rpc_descriptions(), SizeIs(2));
  const RpcSpec& rpc = test.rpc_descriptions(1);
  EXPECT_EQ(rpc.server(), "antagonist_burst");
  EXPECT_EQ(rpc.fanout_filter(), "all");
  EXPECT_EQ(test.payload_descriptions(0).size(), 65536);
  const Iterations& iterations = test.actions(1).iterations();
  EXPECT_EQ(iterations.open_loop_interval_distribution(), "sync_burst");
  EXPECT_EQ(iterations.max_parallel_iterations(), 5);
  EXPECT_THAT(test.activity_pools(), IsEmpty());
}

TEST(CellTestTest, EachNodeOfTheSubjectHasAsManyInstances) {
  const ExperimentPlan plan = ExamplePlan(
      "antagonists { name: 'two' activity: 'burn' instances: 2 "
      "placed_with: ['client', 'server'] }");
  const DistributedSystemDescription test =
      MakeCell(plan, "controls: 'off' antagonist: 'two'");
  EXPECT_EQ(test.services(2).count(), 6);
  EXPECT_THAT(test.node_service_bundles().at("node0").services(),
              ElementsAre("client/0", "antagonist_two/0", "antagonist_two/1"));
  EXPECT_THAT(test.node_service_bundles().at("node2").services(),
              ElementsAre("server/1", "antagonist_two/4", "antagonist_two/5"));
}

TEST(LoadPerSecondTest, IsThatOfTheRpc) {
  const ExperimentPlan plan = ExamplePlan();
  EXPECT_DOUBLE_EQ(LoadPerSecond(plan, Cell(""), 0), 100);
  EXPECT_DOUBLE_EQ(LoadPerSecond(plan, Cell("load: '30/s'"), 0), 30);
  EXPECT_DOUBLE_EQ(LoadPerSecond(plan, Cell("load: '80%'"), 500), 400);
  EXPECT_DOUBLE_EQ(
      LoadPerSecond(plan, Cell("purpose: 'antagonist_alone'"), 500), 0);
}

TEST(PlanExperimentTest, MakesDefaultsExplicit) {
  const auto plan = PlanExperiment(ExampleTest(""), {.seed = 3});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const Experiment& experiment = plan->experiment;
  EXPECT_EQ(experiment.subject().rpc(), "query");
  EXPECT_THAT(experiment.subject().services(), ElementsAre("server"));
  ASSERT_THAT(experiment.controls(), SizeIs(1));
  EXPECT_EQ(experiment.controls(0).name(), "none");
  EXPECT_EQ(experiment.phases().interfere(), "1m");
  EXPECT_TRUE(experiment.has_repeat());
  EXPECT_FALSE(plan->subject.has_workers_per_instance());
  EXPECT_THAT(plan->subject.objectives(), IsEmpty());
  EXPECT_FALSE(plan->has_own_seed);
  DistributedSystemDescription seeded = ExampleTest("");
  seeded.set_random_seed(5);
  const auto with_seed = PlanExperiment(seeded, {.seed = 3});
  ASSERT_TRUE(with_seed.ok()) << with_seed.status();
  EXPECT_TRUE(with_seed->has_own_seed);
}

TEST(PlanExperimentTest, NeedsAnExperiment) {
  DistributedSystemDescription test = ExampleTest("");
  test.clear_experiment();
  EXPECT_THAT(std::string(PlanExperiment(test, {}).status().message()),
              HasSubstr("the test has no experiment"));
}

TEST(PlanExperimentTest, TellsWhatIsWrongWithACellBeforeAnyRuns) {
  DistributedSystemDescription test =
      ExampleTest("antagonists { name: 'hog' activity: 'burn' threads: 90 }");
  // Each of the two is within the limit; together they are not.
  test.mutable_overload_limits()->set_max_threads(100);
  test.add_activity_pools()->set_name("own");
  test.mutable_activity_pools(0)->set_size(20);
  *test.add_activity_configs() = test.activity_configs(0);
  test.mutable_activity_configs(1)->set_name("own");
  test.mutable_activity_configs(1)->set_pool_name("own");
  const absl::Status status = PlanExperiment(test, {}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("would be a test with"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("max_threads"));
}

// Whatever experiment is valid, each of its cells is a valid test.
TEST(PlanExperimentProperty, CellsOfValidExperimentsAreValid) {
  constexpr uint64_t kSeeds = 400;
  int valid = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    fuzzing::RandomSource random(seed);
    DistributedSystemDescription test = ExampleTest("");
    DrawExperiment(random, test);
    TestSequence sequence;
    *sequence.add_tests() = test;
    const auto checked = config::CheckTestSequence(sequence);
    if (!checked.ok()) continue;
    ++valid;
    const auto plan = PlanExperiment(checked->tests(0), {.seed = seed});
    ASSERT_TRUE(plan.ok()) << plan.status() << test.experiment().DebugString();
    for (ExperimentCell& cell : ListCells(plan->experiment, seed)) {
      cell.set_load_per_second(LoadPerSecond(*plan, cell, 500));
      const auto cell_test = CellTest(*plan, cell, absl::Seconds(5));
      ASSERT_TRUE(cell_test.ok())
          << cell_test.status() << test.experiment().DebugString();
      // What the subject is must not depend on the cell.
      EXPECT_EQ(cell_test->services(1).name(), "server");
      EXPECT_EQ(cell_test->random_seed(), seed);
    }
  }
  EXPECT_GT(valid, kSeeds / 3);
}

}  // namespace
}  // namespace distbench::protection
