#include "distbench/engine/activity_pool.h"

#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "distbench/engine/run_state.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

Plan PlanWith(const ActivityPlan& activity) {
  Plan plan;
  plan.activities = {activity};
  return plan;
}

const ActivityPlan kConsumeCpu = {
    .name = "work",
    .function = "ConsumeCpu",
    .settings = {{.name = "array_size", .int64_value = 100}}};
const ActivityPlan kSleepFor = {
    .name = "nap",
    .function = "SleepFor",
    .settings = {{.name = "duration_us", .int64_value = 7}}};

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

TEST(ActivityPoolTest, ThreadsDoEveryIterationOnce) {
  const Plan plan = PlanWith(kConsumeCpu);
  std::vector<Iteration> iterations(500);
  Collector collector(static_cast<int>(iterations.size()));
  ActivityPool pool(plan, /*seed=*/1, /*thread_count=*/3);
  for (Iteration& iteration : iterations) {
    pool.Submit(0, iteration, collector);
  }
  collector.remaining.Wait();
  EXPECT_EQ(collector.done_count(), iterations.size());
  EXPECT_EQ(pool.iteration_count(0), 500);
}

TEST(ActivityPoolTest, WithoutThreadsTheCallerWorks) {
  const Plan plan = PlanWith(kConsumeCpu);
  Iteration iteration;
  Collector collector(1);
  ActivityPool pool(plan, /*seed=*/1, /*thread_count=*/0);
  pool.Submit(0, iteration, collector);
  EXPECT_EQ(collector.done_count(), 1u);
}

TEST(ActivityPoolTest, TellsWaitsFromWork) {
  const Plan waiting = PlanWith(kSleepFor);
  EXPECT_EQ(ActivityPool(waiting, 1, 0).wait_ns(0), 7'000);
  const Plan working = PlanWith(kConsumeCpu);
  EXPECT_EQ(ActivityPool(working, 1, 0).wait_ns(0), 0);
}

}  // namespace
}  // namespace distbench
