#include <cstdint>
#include <set>
#include <string>

#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/search/simulation_runner.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

DistributedSystemDescription OpenLoop() {
  absl::StatusOr<TestSequence> tests = config::ParseTestSequence(
      R"(tests {
           services { name: "client" count: 1 }
           services { name: "server" count: 1 }
           rpc_descriptions { name: "ask" client: "client" server: "server" }
           action_lists { name: "client" action_names: "run" }
           action_lists { name: "ask" }
           actions {
             name: "run" rpc_name: "ask"
             iterations { rate: "1000/s" max_duration: "100ms" }
           }
         })",
      "test");
  tests = config::CheckTestSequence(*std::move(tests));
  EXPECT_TRUE(tests.ok()) << tests.status();
  return tests->tests(0);
}

uint64_t SeedOfRun(const TestRunner& run,
                   const DistributedSystemDescription& test) {
  const absl::StatusOr<TestResult> result =
      run(test, [](const RunTestsEvent&) { return true; });
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? result->run_info().random_seed() : 0;
}

// Otherwise the interval of a search's answer would rest on copies of one run.
TEST(SimulatedRepeatsTest, EachRunHasASeedOfItsOwn) {
  DistributedSystemDescription test = OpenLoop();
  const TestRunner run = RunOnSimulation({});
  EXPECT_EQ(SeedOfRun(run, test), 1u);
  EXPECT_EQ(SeedOfRun(run, test), 2u);
  EXPECT_EQ(SeedOfRun(RunOnSimulation({}, 5), test), 6u);
  test.set_random_seed(70);
  EXPECT_EQ(SeedOfRun(RunOnSimulation({}, 5), test), 75u);
}

}  // namespace
}  // namespace distbench::search
