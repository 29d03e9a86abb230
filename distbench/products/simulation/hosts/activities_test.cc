#include "distbench/products/simulation/hosts/activities.h"

#include <memory>
#include <utility>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/activity_pools/activity_recorder.h"
#include "distbench/engine/worker/run_state.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr int kActivities = 3;

config::Plan PlanWithActivities() {
  config::Plan plan;
  plan.activities.resize(kActivities);
  return plan;
}

// A pool whose threads end their iterations when the test says so.
class SimulatedPoolTest : public testing::Test,
                          private engine::ActivityListener {
 protected:
  class FakeThread final : public ActivityThread {
   public:
    FakeThread(SimulatedPoolTest& test, Listener& listener)
        : test_(test), listener_(listener) {
      test_.threads_.push_back(this);
    }
    void Start(int activity) override { test_.started_.push_back(activity); }
    void End() { listener_.OnIterationOver(); }

   private:
    SimulatedPoolTest& test_;
    Listener& listener_;
  };

  void MakePool(int thread_count) {
    pool_ = std::make_unique<SimulatedPool>(
        engine::IterationPoolOptions{.plan = &plan_,
                                     .activities = {},
                                     .thread_count = thread_count,
                                     .clock = &clock_,
                                     .recorder = &recorder_},
        [this](ActivityThread::Listener& listener) {
          return std::make_unique<FakeThread>(*this, listener);
        });
  }

  void Submit(int activity, engine::Iteration& iteration) {
    pool_->Submit(activity, iteration, *this);
  }

  // Lets a thread, in the order in which they were made, end its iteration.
  void EndThread(int thread) { threads_[thread]->End(); }

  std::vector<engine::Iteration*> TakeDone() {
    return std::exchange(done_, {});
  }
  std::vector<int> TakeStarted() { return std::exchange(started_, {}); }

  engine::ActivityRecord RecordOf(int activity) {
    std::vector<engine::ActivityRecord> records(kActivities);
    pool_->AddTo(records);
    return records[activity];
  }

  config::Plan plan_ = PlanWithActivities();
  base::ManualClock clock_;
  std::vector<engine::Iteration> iterations_ =
      std::vector<engine::Iteration>(5);
  std::unique_ptr<SimulatedPool> pool_;

 private:
  void OnActivityDone(engine::Iteration& iteration) override {
    done_.push_back(&iteration);
  }

  engine::ActivityRecorder recorder_{
      {.activity_count = kActivities, .recording_memory_bytes = 1 << 20}};
  std::vector<FakeThread*> threads_;
  std::vector<int> started_;
  std::vector<engine::Iteration*> done_;
};

TEST_F(SimulatedPoolTest, RunsAsManyAsItHasThreadsInTheOrderOfRequests) {
  MakePool(2);
  Submit(0, iterations_[0]);
  Submit(1, iterations_[1]);
  clock_.Advance(5);
  Submit(2, iterations_[2]);
  Submit(0, iterations_[3]);
  EXPECT_THAT(TakeStarted(), ElementsAre(0, 1));
  EXPECT_THAT(TakeDone(), IsEmpty());
  clock_.Advance(10);
  EndThread(1);
  EXPECT_THAT(TakeStarted(), ElementsAre(2));
  EXPECT_THAT(TakeDone(), ElementsAre(&iterations_[1]));
  EndThread(1);
  EXPECT_THAT(TakeStarted(), ElementsAre(0));
  EndThread(0);
  EndThread(1);
  EXPECT_THAT(TakeDone(),
              ElementsAre(&iterations_[2], &iterations_[0], &iterations_[3]));
  Submit(1, iterations_[4]);
  EXPECT_THAT(TakeStarted(), ElementsAre(1));
}

TEST_F(SimulatedPoolTest, MeasuresWaitsAndDurations) {
  MakePool(1);
  Submit(1, iterations_[0]);
  clock_.Advance(3);
  Submit(1, iterations_[1]);
  clock_.Advance(4);
  EndThread(0);
  clock_.Advance(20);
  EndThread(0);
  const engine::ActivityRecord record = RecordOf(1);
  EXPECT_TRUE(record.is_simulated);
  EXPECT_EQ(record.iteration_count, 2);
  EXPECT_EQ(record.queueing_ns.min(), 0);
  EXPECT_EQ(record.queueing_ns.max(), 4);
  EXPECT_EQ(record.duration_ns.min(), 7);
  EXPECT_EQ(record.duration_ns.max(), 20);
  EXPECT_EQ(RecordOf(0).iteration_count, 0);
  EXPECT_FALSE(RecordOf(0).is_simulated);  // this pool knows nothing of it
}

TEST_F(SimulatedPoolTest, WhatIsDroppedEndsAtOnceAndIsNotCounted) {
  MakePool(1);
  Submit(0, iterations_[0]);
  EndThread(0);
  EXPECT_THAT(TakeDone(), ElementsAre(&iterations_[0]));
  Submit(0, iterations_[1]);
  Submit(0, iterations_[2]);
  pool_->DropWaiting();
  EXPECT_THAT(TakeDone(),
              UnorderedElementsAre(&iterations_[1], &iterations_[2]));
  EndThread(0);  // of the iteration that was dropped
  EXPECT_THAT(TakeDone(), IsEmpty());
  TakeStarted();
  Submit(0, iterations_[3]);
  EXPECT_THAT(TakeDone(), ElementsAre(&iterations_[3]));
  EXPECT_THAT(TakeStarted(), IsEmpty());
  EXPECT_EQ(RecordOf(0).iteration_count, 1);
}

TEST_F(SimulatedPoolTest, AShutPoolTellsNobody) {
  MakePool(1);
  Submit(0, iterations_[0]);
  Submit(0, iterations_[1]);
  pool_->Shutdown();
  EndThread(0);
  EXPECT_THAT(TakeDone(), IsEmpty());
}

}  // namespace
}  // namespace distbench::simulation
