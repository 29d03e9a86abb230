// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/hosts/simulated_pool.h"

#include <memory>
#include <utility>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/activity_pools/activity_recorder.h"
#include "distbench/engine/worker/run_state.h"
#include "distbench/products/simulation/kernel/simulator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Iterations of activity i take 10 (i + 1) ns on a host with CPUs for all.
class SimulatedPoolTest : public testing::Test,
                          private engine::ActivityListener {
 protected:
  static constexpr int kActivities = 3;

  SimulatedPoolTest() {
    plan_.activities.resize(kActivities);
    for (int i = 0; i < kActivities; ++i) {
      ActivityCosts costs;
      costs.set_cpu_ns(10 * (i + 1));
      costs_.push_back(std::make_unique<IterationCosts>(costs));
    }
  }

  void MakePool(int thread_count) {
    pool_ = std::make_unique<SimulatedPool>(
        engine::IterationPoolOptions{.plan = &plan_,
                                     .activities = {},
                                     .thread_count = thread_count,
                                     .clock = &simulator_.clock(0),
                                     .recorder = &recorder_},
        host_);
  }

  void Submit(int activity, engine::Iteration& iteration) {
    pool_->Submit(activity, iteration, *this);
  }

  void RunTo(int64_t end_ns) {
    simulator_.Run(end_ns, [] { return false; });
  }

  std::vector<engine::Iteration*> TakeDone() {
    return std::exchange(done_, {});
  }

  engine::ActivityRecord RecordOf(int activity) {
    std::vector<engine::ActivityRecord> records(kActivities);
    pool_->AddTo(records);
    return records[activity];
  }

  std::vector<engine::Iteration> iterations_ =
      std::vector<engine::Iteration>(5);
  std::unique_ptr<SimulatedPool> pool_;
  double used_ns_ = 0;

 private:
  void OnActivityDone(engine::Iteration& iteration) override {
    done_.push_back(&iteration);
  }

  config::Plan plan_;
  CostsByActivity costs_;
  Simulator simulator_{SimulatorOptions()};
  SimulatedHost machine_ = base::FromText<SimulatedHost>("cpus: 16");
  SimulatedCpus cpus_{simulator_, 0, machine_, /*slowness=*/1, /*seed=*/0};
  PoolHost host_{&cpus_, &costs_, base::WorkRandom(1), &used_ns_};
  engine::ActivityRecorder recorder_{
      {.activity_count = kActivities, .recording_memory_bytes = 1 << 20}};
  std::vector<engine::Iteration*> done_;
};

TEST_F(SimulatedPoolTest, RunsAsManyAsItHasThreadsInTheOrderOfRequests) {
  MakePool(2);
  Submit(0, iterations_[0]);
  Submit(1, iterations_[1]);
  RunTo(5);
  Submit(2, iterations_[2]);
  Submit(0, iterations_[3]);
  EXPECT_THAT(TakeDone(), IsEmpty());
  RunTo(10);  // the third begins
  EXPECT_THAT(TakeDone(), ElementsAre(&iterations_[0]));
  RunTo(20);  // the fourth begins
  EXPECT_THAT(TakeDone(), ElementsAre(&iterations_[1]));
  RunTo(29);
  EXPECT_THAT(TakeDone(), IsEmpty());
  RunTo(40);
  EXPECT_THAT(TakeDone(), ElementsAre(&iterations_[3], &iterations_[2]));
  EXPECT_EQ(used_ns_, 10 + 20 + 30 + 10);
  Submit(1, iterations_[4]);
  RunTo(100);
  EXPECT_THAT(TakeDone(), ElementsAre(&iterations_[4]));
}

TEST_F(SimulatedPoolTest, MeasuresWaitsAndDurations) {
  MakePool(1);
  Submit(1, iterations_[0]);
  RunTo(3);
  Submit(1, iterations_[1]);
  RunTo(100);
  const engine::ActivityRecord record = RecordOf(1);
  EXPECT_TRUE(record.is_simulated);
  EXPECT_EQ(record.iteration_count, 2);
  EXPECT_EQ(record.queueing_ns.min(), 0);
  EXPECT_EQ(record.queueing_ns.max(), 17);
  EXPECT_EQ(record.duration_ns.min(), 20);
  EXPECT_EQ(record.duration_ns.max(), 20);
  EXPECT_EQ(RecordOf(0).iteration_count, 0);
  EXPECT_FALSE(RecordOf(0).is_simulated);  // this pool knows nothing of it
}

TEST_F(SimulatedPoolTest, WhatIsDroppedEndsAtOnceAndIsNotCounted) {
  MakePool(1);
  Submit(0, iterations_[0]);
  RunTo(10);
  EXPECT_THAT(TakeDone(), ElementsAre(&iterations_[0]));
  Submit(0, iterations_[1]);
  Submit(0, iterations_[2]);
  pool_->DropWaiting();
  EXPECT_THAT(TakeDone(),
              UnorderedElementsAre(&iterations_[1], &iterations_[2]));
  RunTo(100);  // the CPU time of the one that had begun passes
  EXPECT_THAT(TakeDone(), IsEmpty());
  Submit(0, iterations_[3]);
  EXPECT_THAT(TakeDone(), ElementsAre(&iterations_[3]));
  EXPECT_EQ(RecordOf(0).iteration_count, 1);
}

TEST_F(SimulatedPoolTest, AShutPoolTellsNobody) {
  MakePool(1);
  Submit(0, iterations_[0]);
  Submit(0, iterations_[1]);
  pool_->Shutdown();
  RunTo(100);
  EXPECT_THAT(TakeDone(), IsEmpty());
}

}  // namespace
}  // namespace distbench::simulation
