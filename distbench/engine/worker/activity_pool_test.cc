// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/activity_pools/activity_pool.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "distbench/activity/registry.h"
#include "distbench/base/clock.h"
#include "distbench/base/testing/scarce_memory.h"
#include "distbench/engine/worker/run_state.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::HasSubstr;

config::ActivityPlan ConsumeCpu() {
  config::ActivityPlan plan;
  plan.function = "ConsumeCpu";
  plan.settings["array_size"] = int64_t{100};
  return plan;
}

config::Plan PlanWith(const config::ActivityPlan& activity) {
  config::Plan plan;
  plan.activities = {activity};
  return plan;
}

// Data of hundreds of megabytes, which cannot be made within no time at all.
config::Plan LargePlan() {
  config::ActivityPlan large;
  large.function = "PolluteDataCache";
  large.settings["array_size"] = int64_t{40'000'000};
  large.settings["array_reads_per_iteration"] = int64_t{1};
  return PlanWith(large);
}

IterationPoolOptions OptionsFor(const config::Plan& plan, int thread_count) {
  return {.plan = &plan,
          .activities = {0},
          .seed = 1,
          .thread_count = thread_count,
          .clock = &base::RealClock()};
}

ActivityRecord RecordOf(ActivityPool& pool) {
  std::vector<ActivityRecord> records(1);
  pool.AddTo(records);
  return records[0];
}

class Collector final : public ActivityListener {
 public:
  explicit Collector(int expected) : remaining(expected) {}

  void OnActivityDone(Iteration& iteration) override {
    {
      absl::MutexLock lock(&mutex_);
      done_.insert(&iteration);
    }
    remaining.DecrementCount();
  }

  size_t done_count() {
    absl::MutexLock lock(&mutex_);
    return done_.size();
  }

  absl::BlockingCounter remaining;

 private:
  absl::Mutex mutex_;
  std::set<Iteration*> done_ ABSL_GUARDED_BY(mutex_);
};

// Blocks the thread that calls it until it is released.
class Blocker final : public ActivityListener {
 public:
  void OnActivityDone(Iteration& /*iteration*/) override {
    reached.Notify();
    let_go.WaitForNotification();
  }

  absl::Notification reached;
  absl::Notification let_go;
};

// Returns the record of a number of iterations.
ActivityRecord RunAll(const config::ActivityPlan& activity, int thread_count,
                      int iteration_count) {
  const config::Plan plan = PlanWith(activity);
  std::vector<Iteration> iterations(iteration_count);
  Collector collector(iteration_count);
  ActivityPool pool(OptionsFor(plan, thread_count));
  for (Iteration& iteration : iterations) {
    pool.Submit(0, iteration, collector);
  }
  collector.remaining.Wait();
  EXPECT_EQ(collector.done_count(), iterations.size());
  return RecordOf(pool);
}

TEST(ActivityPoolTest, ThreadsDoEveryIterationOnce) {
  const ActivityRecord record = RunAll(ConsumeCpu(), 3, 500);
  EXPECT_EQ(record.iteration_count, 500);
  EXPECT_EQ(record.duration_ns.count(), 500u);
  EXPECT_EQ(record.queueing_ns.count(), 500u);
  EXPECT_GT(record.duration_ns.min(), 0);
}

TEST(ActivityPoolTest, ResultsDoNotDependOnTheThreads) {
  const ActivityRecord inline_record = RunAll(ConsumeCpu(), 0, 200);
  EXPECT_EQ(inline_record.iteration_count, 200);
  EXPECT_NE(inline_record.work.checksum, 0u);
  EXPECT_EQ(RunAll(ConsumeCpu(), 1, 200).work.checksum,
            inline_record.work.checksum);
  EXPECT_EQ(RunAll(ConsumeCpu(), 4, 200).work.checksum,
            inline_record.work.checksum);
}

TEST(ActivityPoolTest, IsReadyOnceItsActivitiesAreMade) {
  const config::Plan plan = PlanWith(ConsumeCpu());
  ActivityPool pool(OptionsFor(plan, 2));
  EXPECT_TRUE(pool.WaitUntilReady(absl::InfiniteFuture()).ok());
}

TEST(ActivityPoolTest, IsNotReadyBeforeItsActivitiesAreMade) {
  const config::Plan plan = LargePlan();
  ActivityPool pool(OptionsFor(plan, 1));
  EXPECT_EQ(pool.WaitUntilReady(absl::InfinitePast()).code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(pool.WaitUntilReady(absl::InfiniteFuture()).ok());
}

TEST(ActivityPoolTest, MemoryThatThereIsNotIsAnError) {
  if (base::kSanitized) GTEST_SKIP() << "a sanitizer would end the process";
  config::Plan plan = LargePlan();
  plan.activities[0].settings["array_size"] = int64_t{1'000'000'000};
  Iteration iteration;
  Collector collector(1);
  const base::ScarceMemory scarce(500 << 20);
  ActivityPool pool(OptionsFor(plan, 1));
  const absl::Status ready = pool.WaitUntilReady(absl::InfiniteFuture());
  EXPECT_EQ(ready.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(ready.ToString(), HasSubstr("more memory than the system has"));
  // Nothing is done or waited for.
  pool.Submit(0, iteration, collector);
  collector.remaining.Wait();
}

TEST(ActivityPoolTest, NobodyWaitsForAPoolThatIsStopped) {
  const config::Plan plan = LargePlan();
  ActivityPool pool(OptionsFor(plan, 1));
  pool.DropWaiting();
  EXPECT_TRUE(pool.WaitUntilReady(absl::InfinitePast()).ok());
}

TEST(ActivityPoolTest, DropsWhatHasNotBegun) {
  const config::Plan plan = PlanWith(ConsumeCpu());
  std::vector<Iteration> iterations(10);
  Iteration first;
  Iteration late;
  Blocker blocker;
  Collector collector(11);
  ActivityPool pool(OptionsFor(plan, 1));
  pool.Submit(0, first, blocker);
  blocker.reached.WaitForNotification();
  for (Iteration& iteration : iterations) {
    pool.Submit(0, iteration, collector);
  }
  pool.DropWaiting();
  pool.Submit(0, late, collector);
  collector.remaining.Wait();
  EXPECT_EQ(RecordOf(pool).iteration_count, 1);
  blocker.let_go.Notify();
}

// Work that would take hours: reads of a page each.
config::ActivityPlan FeatureQuery(int64_t lookups) {
  config::ActivityPlan plan;
  plan.name = "query";
  plan.function = "FeatureQuery";
  const auto set_number = [&](const char* name, int64_t value) {
    plan.settings[name] = value;
  };
  const auto set_text = [&](const char* name, const std::string& value) {
    plan.settings[name] = value;
  };
  set_number("rows", 1);
  set_number("row_bytes", 8);
  set_number("lookups", lookups);
  set_number("parallelism", 1);
  set_number("seed", 1);
  set_number("spread_percent", 20);
  set_number("skew_thousandths", 990);
  set_text("access", "uniform");
  set_text("io", "cached");
  set_text("directory", testing::TempDir());
  return plan;
}

// Tells when a pool has looked at it twice: when an iteration is submitted, and
// when it begins.
class WatchedClock final : public base::Clock {
 public:
  int64_t MonotonicNs() const override {
    if (++looks_ == 2) iteration_began.Notify();
    return base::RealClock().MonotonicNs();
  }
  int64_t UnixNs() const override { return base::RealClock().UnixNs(); }

  mutable absl::Notification iteration_began;

 private:
  mutable std::atomic<int> looks_ = 0;
};

TEST(ActivityPoolTest, EndsWhatHasBegunSoon) {
  const config::Plan plan = PlanWith(FeatureQuery(int64_t{1} << 40));
  const WatchedClock clock;
  Iteration iteration;
  Collector collector(1);
  IterationPoolOptions options = OptionsFor(plan, 1);
  options.clock = &clock;
  ActivityPool pool(options);
  ASSERT_TRUE(pool.WaitUntilReady(absl::InfiniteFuture()).ok());
  pool.Submit(0, iteration, collector);
  clock.iteration_began.WaitForNotification();
  pool.DropWaiting();
  collector.remaining.Wait();
}

// An activity that accumulates bytes up to a limit, for all threads together.
class Accumulation final : public activity::Activity {
 public:
  explicit Accumulation(const config::ActivityPlan& plan)
      : bytes_(activity::Integer(plan, "bytes")),
        limit_bytes_(activity::Integer(plan, "limit_bytes")) {}

  activity::Work DoPart(uint64_t, int, int) override {
    int64_t held = held_->load();
    int64_t grown = 0;
    do {
      grown = std::min(bytes_, limit_bytes_ - held);
    } while (!held_->compare_exchange_weak(held, held + grown));
    return {.output_bytes = grown};
  }

  void ShareWith(activity::Activity& other) override {
    held_ = static_cast<Accumulation&>(other).held_;
  }

  void Release() override { *held_ = 0; }

 private:
  const int64_t bytes_;
  const int64_t limit_bytes_;
  std::shared_ptr<std::atomic<int64_t>> held_ =
      std::make_shared<std::atomic<int64_t>>(0);
};

const activity::ActivityPlugin kAccumulate(
    {.name = "Accumulate"},
    {[](const config::ActivityPlan& plan,
        uint64_t) -> absl::StatusOr<std::unique_ptr<activity::Activity>> {
      return std::make_unique<Accumulation>(plan);
    }});

config::ActivityPlan Accumulate(int64_t bytes, int64_t limit_bytes) {
  config::ActivityPlan plan;
  plan.function = "Accumulate";
  plan.settings["bytes"] = bytes;
  plan.settings["limit_bytes"] = limit_bytes;
  return plan;
}

constexpr int64_t kMuch = 1 << 20;

TEST(ActivityPoolTest, ThreadsShareWhatTheyAccumulate) {
  // Each thread by itself would reach the limit.
  EXPECT_EQ(RunAll(Accumulate(kMuch, 4 * kMuch), 4, 50).work.output_bytes,
            4 * kMuch);
}

TEST(ActivityPoolTest, ReleasesWhatHasAccumulated) {
  const config::Plan plan = PlanWith(Accumulate(kMuch, kMuch));
  Iteration iteration;
  ActivityPool pool(OptionsFor(plan, 0));
  for (const int64_t expected : {kMuch, kMuch, 2 * kMuch}) {
    Collector collector(1);
    pool.Submit(0, iteration, collector);
    EXPECT_EQ(RecordOf(pool).work.output_bytes, expected);
    if (RecordOf(pool).iteration_count == 2) pool.Release();
  }
}

// The thread that releases may also have to do what was submitted meanwhile.
TEST(ActivityPoolTest, GoesOnAfterTheRelease) {
  const config::Plan plan = PlanWith(Accumulate(kMuch, 100 * kMuch));
  std::vector<Iteration> iterations(20);
  Collector collector(20);
  ActivityPool pool(OptionsFor(plan, 2));
  for (Iteration& iteration : iterations) {
    pool.Release();
    pool.Submit(0, iteration, collector);
  }
  collector.remaining.Wait();
  EXPECT_EQ(RecordOf(pool).iteration_count, 20);
  EXPECT_EQ(RecordOf(pool).work.failed_operations, 0);
}

TEST(ActivityPoolTest, TellsTheRecorder) {
  const config::Plan plan = PlanWith(ConsumeCpu());
  ActivityRecorder recorder(
      {.activity_count = 1, .recording_memory_bytes = 1 << 20});
  IterationPoolOptions options = OptionsFor(plan, 0);
  options.recorder = &recorder;
  Iteration iteration;
  Collector collector(1);
  ActivityPool pool(options);
  pool.Submit(0, iteration, collector);
  int64_t completed = 0;
  stats::IntervalSeries::ForEach(
      {recorder.series(0)}, [&](const stats::IntervalSeries::View& interval) {
        completed += interval.counts.succeeded;
      });
  EXPECT_EQ(completed, 1);
}

}  // namespace
}  // namespace distbench::engine
