// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The cost that the engine's pool adds to activities: the same loops, once
// written here with the libraries alone, and once through an ActivityPool.
// Measures CPU time of the process, in interleaved rounds.
//
//   bazel run -c opt //bench:activity_overhead

#include <zstd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "distbench/activity/compress.h"
#include "distbench/activity/page_rank.h"
#include "distbench/activity/stories.h"
#include "distbench/base/clock.h"
#include "distbench/base/work_random.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/activity_pools/activity_pool.h"
#include "distbench/engine/worker/run_state.h"

namespace distbench {
namespace {

constexpr int kNodes = 50'000;
constexpr int kDegree = 16;
constexpr int kBytes = 131'072;
constexpr int kCorpusBytes = 3 << 20;
constexpr int kStories = 36;
constexpr int64_t kSeed = 1;

volatile uint64_t sink;

// Runs the given number of iterations.
using Loop = std::function<void(int iterations)>;

Loop PageRankAlone() {
  auto graph = std::make_shared<activity::RandomGraph>(kNodes, kDegree, kSeed);
  auto ranks = std::make_shared<std::vector<float>>(kNodes);
  auto passed_on = std::make_shared<std::vector<float>>(kNodes);
  return [=](int iterations) {
    for (int i = 0; i < iterations; ++i) {
      for (int node = 0; node < kNodes; ++node) {
        (*ranks)[node] = 1.0f / kNodes;
        (*passed_on)[node] = (*ranks)[node] / kDegree;
      }
      for (int node = 0; node < kNodes; ++node) {
        float sum = 0;
        for (uint32_t source : graph->SourcesOf(node)) {
          sum += (*passed_on)[source];
        }
        (*ranks)[node] = 0.15f / kNodes + 0.85f * sum;
      }
      sink = sink + static_cast<uint64_t>((*ranks)[i % kNodes] * 1e9f);
    }
  };
}

Loop CompressAlone() {
  auto corpus = std::make_shared<std::string>(
      activity::MakeCorpus({.bytes = kCorpusBytes, .seed = kSeed}));
  auto out = std::make_shared<std::string>(ZSTD_compressBound(kBytes), ' ');
  const std::shared_ptr<ZSTD_CCtx> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  return [=](int iterations) {
    for (int i = 0; i < iterations; ++i) {
      const uint64_t begin =
          base::WorkRandom(kSeed, i).Below(kCorpusBytes - kBytes + 1);
      sink = sink + ZSTD_compressCCtx(context.get(), out->data(), out->size(),
                                      corpus->data() + begin, kBytes,
                                      ZSTD_CLEVEL_DEFAULT);
    }
  };
}

Loop SerializeAlone() {
  auto stories = std::make_shared<FeedStories>();
  activity::AddStories({.stories = kStories}, kStories, base::WorkRandom(kSeed),
                       *stories);
  auto bytes = std::make_shared<std::string>();
  return [=](int iterations) {
    for (int i = 0; i < iterations; ++i) {
      for (FeedStory& story : *stories->mutable_stories()) story.set_id(i);
      stories->SerializeToString(bytes.get());
      sink = sink + bytes->size();
    }
  };
}

class Countdown final : public engine::ActivityListener {
 public:
  explicit Countdown(int count) : counter(count) {}
  void OnActivityDone(engine::Iteration& /*iteration*/) override {
    counter.DecrementCount();
  }

  absl::BlockingCounter counter;
};

config::ActivityPlan PageRankPlan() {
  return {.function = "PageRank",
          .settings = {{"nodes", kNodes},
                       {"degree", kDegree},
                       {"iterations", 1},
                       {"nodes_per_iteration", 0},
                       {"damping_percent", 85},
                       {"parallelism", 1},
                       {"seed", kSeed},
                       {"graph", "thread"}}};
}

config::ActivityPlan CompressPlan() {
  return {.function = "Compress",
          .settings = {{"level", 0},
                       {"bytes", kBytes},
                       {"corpus_bytes", kCorpusBytes},
                       {"entropy_percent", 75},
                       {"repeated_percent", 50},
                       {"parallelism", 1},
                       {"seed", kSeed},
                       {"algorithm", "zstd"}}};
}

config::ActivityPlan SerializePlan() {
  return {.function = "Serialize",
          .settings = {{"stories", kStories},
                       {"objects", 20},
                       {"actions", 5},
                       {"generate", 0},
                       {"parallelism", 1},
                       {"seed", kSeed}}};
}

// Uses a pool of one thread; the caller waits.
class Pooled {
 public:
  explicit Pooled(const config::ActivityPlan& activity) {
    plan_.activities = {activity};
    pool_ = std::make_unique<engine::ActivityPool>(
        engine::IterationPoolOptions{.plan = &plan_,
                                     .activities = {0},
                                     .thread_count = 1,
                                     .clock = &base::RealClock()});
    // The pool does its work whether or not its threads are ready.
    pool_->WaitUntilReady(absl::InfiniteFuture()).IgnoreError();
  }

  void Run(int iterations) {
    Countdown done(iterations);
    engine::Iteration iteration;
    for (int i = 0; i < iterations; ++i) pool_->Submit(0, iteration, done);
    done.counter.Wait();
  }

 private:
  config::Plan plan_;
  std::unique_ptr<engine::ActivityPool> pool_;
};

double ProcessCpuUs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * now.tv_nsec;
}

// Returns the CPU time of an iteration.
double CostUs(const Loop& loop, int iterations) {
  const double before_us = ProcessCpuUs();
  loop(iterations);
  return (ProcessCpuUs() - before_us) / iterations;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Compare(const char* name, const Loop& alone,
             const config::ActivityPlan& plan, int rounds, int iterations) {
  Pooled pooled(plan);
  const Loop through_pool = [&](int count) { pooled.Run(count); };
  CostUs(alone, iterations);
  CostUs(through_pool, iterations);
  std::vector<double> alone_us;
  std::vector<double> pooled_us;
  std::vector<double> ratios;
  for (int i = 0; i < rounds; ++i) {
    alone_us.push_back(CostUs(alone, iterations));
    pooled_us.push_back(CostUs(through_pool, iterations));
    ratios.push_back(pooled_us.back() / alone_us.back());
  }
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  std::printf(
      "%-10s alone %8.1f us, through the pool %8.1f us, ratio %.3f "
      "(%.3f to %.3f)\n",
      name, Median(alone_us), Median(pooled_us), Median(ratios), *least, *most);
}

}  // namespace
}  // namespace distbench

int main(int argc, char** argv) {
  int rounds = 15;
  int iterations = 200;
  CLI::App app("CPU time of activities, alone and through the engine's pool");
  app.add_option("--rounds", rounds)->check(CLI::Range(1, 1000));
  app.add_option("--iterations", iterations)->check(CLI::Range(1, 1000000));
  CLI11_PARSE(app, argc, argv);
  using namespace distbench;
  Compare("PageRank", PageRankAlone(), PageRankPlan(), rounds, iterations);
  Compare("Compress", CompressAlone(), CompressPlan(), rounds, iterations);
  Compare("Serialize", SerializeAlone(), SerializePlan(), rounds, iterations);
}
