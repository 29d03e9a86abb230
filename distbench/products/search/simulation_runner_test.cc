#include "distbench/products/search/simulation_runner.h"

#include <atomic>

#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/search/search_plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

// One worker that answers from its own CPU time.
DistributedSystemDescription SimulatedTest() {
  absl::StatusOr<TestSequence> tests = config::ParseTestSequence(
      R"(tests {
           name: "t"
           workers_per_instance: 1
           services { name: "client" count: 1 }
           services { name: "server" count: 1 }
           rpc_descriptions { name: "ask" client: "client" server: "server" }
           action_lists { name: "client" action_names: "run" }
           action_lists { name: "ask" }
           actions {
             name: "run"
             rpc_name: "ask"
             iterations { rate: "100/s" max_duration: "1s" }
           }
         })",
      "test");
  tests = config::CheckTestSequence(*std::move(tests));
  EXPECT_TRUE(tests.ok()) << tests.status();
  return tests->tests(0);
}

// A server that needs exactly a millisecond for each request.
simulation::ClusterRunOptions OneThousandPerSecond() {
  simulation::ClusterRunOptions options;
  StackCosts& costs = *options.fabric.add_stacks();
  costs.set_driver("grpc");
  costs.mutable_client_send()->set_fixed_ns(1000);
  costs.mutable_client_receive()->set_fixed_ns(1000);
  costs.mutable_server_receive()->set_fixed_ns(900'000);
  costs.mutable_server_send()->set_fixed_ns(100'000);
  return options;
}

TEST(SimulationRunnerTest, ASearchFindsTheCapacityOfTheSimulatedServer) {
  const DistributedSystemDescription test = SimulatedTest();
  LoadSearchSpec spec;
  spec.add_objectives("ask p99<=5ms");
  spec.set_warmup_us(500'000);
  spec.set_probe_duration_us(2'000'000);
  spec.set_final_duration_us(2'000'000);
  const absl::StatusOr<SearchPlan> plan = PlanSearch(spec, test);
  ASSERT_TRUE(plan.ok()) << plan.status();
  SearchCallbacks callbacks;
  callbacks.run = RunOnSimulation(OneThousandPerSecond());
  TestSequenceResults results;
  const absl::Status status = RunLoadSearch(*plan, callbacks, results);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_NEAR(results.searches(0).load(), 1000, 40)
      << results.searches(0).DebugString();
  for (const TestResult& result : results.test_results()) {
    EXPECT_TRUE(result.has_simulation());
  }
}

TEST(SimulationRunnerTest, ACancelledProbeIsAnError) {
  std::atomic<bool> is_cancelled = true;
  simulation::ClusterRunOptions options = OneThousandPerSecond();
  options.is_cancelled = &is_cancelled;
  const auto result = RunOnSimulation(options)(
      SimulatedTest(), [](const RunTestsEvent&) { return true; });
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace distbench::search
