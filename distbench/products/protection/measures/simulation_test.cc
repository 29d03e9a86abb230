// The measures against servers on simulated time, for which they are known.

#include <algorithm>
#include <functional>
#include <vector>

#include "distbench/base/time_units.h"
#include "distbench/products/protection/measures/run.h"
#include "distbench/products/protection/measures/testing/example_experiment.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::Each;

constexpr int64_t kServiceNs = 5 * kMillisecond;
constexpr int64_t kSlowServiceNs = 20 * kMillisecond;

// The antagonist works in this time, which begins and ends within seconds.
constexpr TimeSpan kInterference = {9'990 * kMillisecond,
                                    19'990 * kMillisecond};
constexpr int kSeconds = 40;

int64_t ServiceNs(int64_t start_ns) {
  return start_ns >= kInterference.start_ns && start_ns < kInterference.end_ns
             ? kSlowServiceNs
             : kServiceNs;
}

void Record(int64_t end_ns, int64_t latency_ns, ExampleRun& run) {
  const int64_t second = end_ns / base::kNsPerSecond;
  if (second >= kSeconds) return;
  run.seconds[second].latency_ns.push_back(latency_ns);
}

ExampleRun EmptyRun(bool is_open_loop) {
  ExampleRun run = SteadyRun(0, 0);
  run.is_open_loop = is_open_loop;
  run.recover_s = kSeconds - run.baseline_s - run.interfere_s;
  run.seconds.resize(kSeconds);
  return run;
}

TestResult ResultWithPhases(const ExampleRun& run) {
  TestResult result = ResultOf(run);
  ExperimentCell& cell = *result.mutable_experiment_cell();
  constexpr int64_t kStartNs = kExampleStartSecond * base::kNsPerSecond;
  cell.set_interfere_start_timestamp_ns(kStartNs + kInterference.start_ns);
  cell.set_recover_start_timestamp_ns(kStartNs + kInterference.end_ns);
  return result;
}

// 100 requests per second, 10 ms apart, in the order of their arrival.
TestResult OpenLoop() {
  constexpr int64_t kGapNs = 10 * kMillisecond;
  ExampleRun run = EmptyRun(true);
  int64_t free_ns = 0;
  for (int64_t arrival_ns = 2 * kMillisecond;
       arrival_ns < kSeconds * base::kNsPerSecond; arrival_ns += kGapNs) {
    const int64_t start_ns = std::max(arrival_ns, free_ns);
    free_ns = start_ns + ServiceNs(start_ns);
    Record(free_ns, free_ns - arrival_ns, run);
  }
  return ResultWithPhases(run);
}

// The next request as soon as one has ended.
TestResult ClosedLoop() {
  ExampleRun run = EmptyRun(false);
  for (int64_t start_ns = 0; start_ns < kSeconds * base::kNsPerSecond;) {
    const int64_t end_ns = start_ns + ServiceNs(start_ns);
    Record(end_ns, end_ns - start_ns, run);
    start_ns = end_ns;
  }
  return ResultWithPhases(run);
}

// The server can do 50 per second of the 100 that arrive, so 500 wait when the
// antagonist ends. From then on it can do 200 per second, and none waits after
// 5 s. The next whole second begins 0.01 s later.
TEST(ProtectionSimulationTest, AnOpenLoopOnAServerOfQuarterSpeed) {
  const TestResult result = OpenLoop();
  const ProtectionRun run =
      MeasureProtection(result, {.rpc = kExampleRpc, .limit_ns = {}}, 1'000);
  ASSERT_EQ(run.problem, "");
  EXPECT_EQ(run.baseline_per_second, 100);
  EXPECT_EQ(run.baseline_ns[kMainImpact], kServiceNs);
  ASSERT_EQ(IsolationOf(run).size(), 9);
  EXPECT_THAT(IsolationOf(run), Each(0.5));
  ASSERT_TRUE(run.recovered_after_s.has_value());
  EXPECT_DOUBLE_EQ(*run.recovered_after_s, 5.01);
}

// All of them waited longer than that.
TEST(ProtectionSimulationTest, ResponsesAfterTheLimitAreNoGoodput) {
  const TestResult result = OpenLoop();
  const ProtectionRun run = MeasureProtection(
      result, {.rpc = kExampleRpc, .limit_ns = 10 * kMillisecond}, 1'000);
  ASSERT_EQ(IsolationOf(run).size(), 9);
  EXPECT_THAT(IsolationOf(run), Each(0.0));
}

TEST(ProtectionSimulationTest, AClosedLoopOnAServerOfQuarterSpeed) {
  const TestResult result = ClosedLoop();
  const ProtectionRun run =
      MeasureProtection(result, {.rpc = kExampleRpc, .limit_ns = {}}, 1'000);
  ASSERT_EQ(run.problem, "");
  EXPECT_DOUBLE_EQ(run.baseline_per_second, 199 + 8.0 / 9);
  for (size_t i = 0; i < kImpactQuantiles.size(); ++i) {
    EXPECT_THAT(ImpactOf(run, i), Each(3.0));
  }
  for (const double isolation : IsolationOf(run)) {
    EXPECT_DOUBLE_EQ(isolation, 50 / run.baseline_per_second);
  }
}

}  // namespace
}  // namespace distbench::protection
