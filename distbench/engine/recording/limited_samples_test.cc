// Lists that keep a limited number of samples, on several workers.

#include "distbench/engine/recording/limited_samples.h"

#include <cstdint>
#include <utility>

#include "distbench/engine/recording/recorder.h"
#include "distbench/engine/testing/client_server.h"
#include "distbench/engine/testing/rpc_logs.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

DistributedSystemDescription LimitedTest(int64_t iterations, int parallel,
                                         int64_t max_samples) {
  DistributedSystemDescription test = ParseTest(ClientServer(""));
  Iterations& run = *test.mutable_actions(0)->mutable_iterations();
  run.set_max_iteration_count(iterations);
  run.set_max_parallel_iterations(parallel);
  test.mutable_action_lists(0)->set_max_rpc_samples(max_samples);
  return test;
}

struct Samples {
  int64_t kept = 0;
  int64_t dropped = 0;
};

Samples RunTest(const DistributedSystemDescription& test, int workers) {
  VirtualTimeSystem system(test, workers);
  EXPECT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const RpcPerformanceLog& log = LogOf(logs, "client/0", "server/0", 0);
  return {.kept = log.successful_rpc_samples_size(),
          .dropped = log.statistics().dropped_sample_count()};
}

TEST(LimitedSamplesTest, AreAllKeptByMoreWorkersThanSamples) {
  const Samples samples = RunTest(LimitedTest(1000, 8, 3), 8);
  EXPECT_EQ(samples.kept, 3);
  EXPECT_EQ(samples.dropped, 997);
}

TEST(LimitedSamplesTest, AreTheListsHoweverManyActionsShareThem) {
  DistributedSystemDescription test = LimitedTest(500, 10, 100);
  Action& again = *test.add_actions();
  again = test.actions(0);
  again.set_name("again");
  test.mutable_action_lists(0)->add_action_names("again");
  const Samples samples = RunTest(test, 4);
  EXPECT_EQ(samples.kept, 100);
  EXPECT_EQ(samples.dropped, 900);
}

// Regardless of how the workers have shared the iterations.
TEST(LimitedSamplesTest, AreAllRpcsIfThereAreNoMore) {
  const Samples samples = RunTest(LimitedTest(10, 7, 10), 4);
  EXPECT_EQ(samples.kept, 10);
  EXPECT_EQ(samples.dropped, 0);
}

// The RPCs of both workers are kept equally often, within four standard
// deviations.
TEST(LimitedSamplesTest, AreDrawnFromAllWorkersAlike) {
  constexpr int64_t kLimit = 1000;
  Recorder busy({.sample_memory_bytes = 1 << 20, .seed = 1});
  Recorder lazy({.sample_memory_bytes = 1 << 20, .seed = 2});
  Recorder third({.sample_memory_bytes = 1 << 20, .seed = 3});
  const auto set_aside = [](int64_t count, Recorder& recorder) {
    SampleReservoir samples(kLimit, /*seed=*/count);
    for (int64_t i = 0; i < count; ++i) {
      samples.Add({.sent_ns = i});
    }
    recorder.SetAside(std::move(samples));
  };
  set_aside(6'000, busy);
  set_aside(3'000, busy);
  set_aside(1'000, lazy);
  set_aside(10'000, third);
  KeepOfMainList(kLimit, {&busy, &lazy, &third}, /*seed=*/5);
  EXPECT_EQ(
      busy.samples().size() + lazy.samples().size() + third.samples().size(),
      kLimit);
  EXPECT_NEAR(lazy.samples().size(), 50, 28);
  EXPECT_NEAR(third.samples().size(), 500, 64);
  double sum = 0;
  for (int64_t i = 0; i < lazy.samples().size(); ++i) {
    sum += lazy.samples()[i].sent_ns;
  }
  EXPECT_NEAR(sum / lazy.samples().size(), 500, 4 * 289 / 7);
}

// A worker whose budget is short takes no places from the others.
TEST(LimitedSamplesTest, AreFewerIfThereIsNoMemory) {
  Recorder recorder({.sample_memory_bytes = 5 * sizeof(Sample), .seed = 1});
  SampleReservoir samples(recorder.sample_capacity(), /*seed=*/2);
  for (int i = 0; i < 100; ++i) samples.Add({});
  recorder.SetAside(std::move(samples));
  KeepOfMainList(50, {&recorder}, /*seed=*/3);
  EXPECT_EQ(recorder.samples().size(), 5);
}

}  // namespace
}  // namespace distbench::engine
