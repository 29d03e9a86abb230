// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/hosts/cpus.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using testing::ElementsAre;

// Runs jobs one after the other, and notes when each ends.
class Thread final : public SimulatedThread, public SimulatedEventHandler {
 public:
  Thread(Simulator& simulator, SimulatedCpus& cpus, int64_t start_ns,
         std::vector<double> jobs)
      : SimulatedThread(used_ns),
        simulator_(simulator),
        cpus_(cpus),
        jobs_(std::move(jobs)) {
    simulator_.Schedule(0, 0, start_ns, *this, {});
  }

  void OnEvent(const SimulatedEvent& /*event*/) override { SubmitNext(); }
  void OnCpuDone() override {
    ends_ns.push_back(simulator_.now_ns(0));
    if (next_ < jobs_.size()) SubmitNext();
  }

  std::vector<int64_t> ends_ns;
  double used_ns = 0;

 private:
  void SubmitNext() { cpus_.Submit(*this, jobs_[next_++]); }

  Simulator& simulator_;
  SimulatedCpus& cpus_;
  const std::vector<double> jobs_;
  size_t next_ = 0;
};

class CpusTest : public testing::Test {
 protected:
  CpusTest() : simulator_({.lookahead_ns = 1000}) {}

  // `host` is a SimulatedHost as text.
  SimulatedCpus& Make(const std::string& host, double slowness = 1) {
    host_ = base::FromText<SimulatedHost>(host);
    cpus_ = std::make_unique<SimulatedCpus>(simulator_, 0, host_, slowness,
                                            /*seed=*/0);
    return *cpus_;
  }
  std::unique_ptr<Thread> Start(int64_t start_ns, std::vector<double> jobs) {
    return std::make_unique<Thread>(simulator_, *cpus_, start_ns,
                                    std::move(jobs));
  }
  void Run(int64_t end_ns = std::numeric_limits<int64_t>::max()) {
    simulator_.Run(end_ns, [] { return false; });
  }

  Simulator simulator_;
  SimulatedHost host_;
  std::unique_ptr<SimulatedCpus> cpus_;
};

TEST_F(CpusTest, AJobAloneTakesItsWork) {
  Make("cpus: 1");
  const auto thread = Start(100, {50, 0, 25});
  Run();
  EXPECT_THAT(thread->ends_ns, ElementsAre(150, 150, 175));
}

TEST_F(CpusTest, ThreadsOfOneCpuShareIt) {
  Make("cpus: 1");
  const auto first = Start(0, {100});
  const auto second = Start(50, {100});
  Run();
  // The first has 50 left when the second comes, and both run at half speed.
  EXPECT_THAT(first->ends_ns, ElementsAre(150));
  EXPECT_THAT(second->ends_ns, ElementsAre(200));
}

TEST_F(CpusTest, AThreadUsesOneCpuAtMost) {
  Make("cpus: 2");
  const auto first = Start(0, {100});
  const auto second = Start(0, {100});
  Run();
  EXPECT_THAT(first->ends_ns, ElementsAre(100));
  EXPECT_THAT(second->ends_ns, ElementsAre(100));
}

TEST_F(CpusTest, ThreeThreadsShareTwoCpus) {
  Make("cpus: 2");
  std::vector<std::unique_ptr<Thread>> threads;
  for (int i = 0; i < 3; ++i) threads.push_back(Start(0, {100}));
  Run();
  for (const auto& thread : threads) {
    EXPECT_THAT(thread->ends_ns, ElementsAre(150));
  }
}

TEST_F(CpusTest, WithFifoTheOthersWaitUntilAThreadHasNoJob) {
  Make("cpus: 1 scheduler: FIFO");
  const auto first = Start(0, {100, 100});
  const auto second = Start(10, {50});
  const auto third = Start(20, {50});
  Run();
  EXPECT_THAT(first->ends_ns, ElementsAre(100, 200));
  EXPECT_THAT(second->ends_ns, ElementsAre(250));
  EXPECT_THAT(third->ends_ns, ElementsAre(300));
}

TEST_F(CpusTest, ASlowHostTakesLonger) {
  Make("cpus: 1", /*slowness=*/3);
  const auto thread = Start(0, {100});
  Run();
  EXPECT_THAT(thread->ends_ns, ElementsAre(300));
}

TEST_F(CpusTest, WhatIsLeftOfAJobIsNotUsed) {
  SimulatedCpus& cpus = Make("cpus: 1", /*slowness=*/2);
  const auto first = Start(0, {50, 1000});
  const auto second = Start(300, {1000});
  Run(500);
  cpus.SettleUsed();
  // Each has had half of the last 200 ns.
  EXPECT_NEAR(first->used_ns, 400, 1);
  EXPECT_NEAR(second->used_ns, 100, 1);
}

TEST_F(CpusTest, WithFifoThreadsThatWaitUseNothing) {
  SimulatedCpus& cpus = Make("cpus: 1 scheduler: FIFO");
  const auto first = Start(0, {1000});
  const auto second = Start(0, {1000});
  Run(500);
  cpus.SettleUsed();
  EXPECT_NEAR(first->used_ns, 500, 1);
  EXPECT_EQ(second->used_ns, 0);
}

TEST_F(CpusTest, ShortJobsBesideALongOneLeaveNoEventsBehind) {
  Make("cpus: 2");
  const auto endless = Start(0, {1'000'000});
  std::vector<std::unique_ptr<Thread>> threads;
  for (int i = 0; i < 100; ++i) threads.push_back(Start(10 + 100 * i, {50}));
  Run();
  // Each starts and ends.
  EXPECT_LE(simulator_.event_count(), 2 * 101 + 2);
}

TEST_F(CpusTest, WhatHappensOnceInAMillionYearsDoesNotHappenAtOnce) {
  Make("cpus: 1 stalls_per_second: 1e-14 mean_stall_ns: 1e9");
  const auto thread = Start(100, {50});
  Run(1'000'000);
  EXPECT_THAT(thread->ends_ns, ElementsAre(150));
}

TEST_F(CpusTest, AJobOfAMillionYearsLetsTimePass) {
  Make("cpus: 1", /*slowness=*/1e6);
  const auto endless = Start(0, {1e20});
  const auto other = Start(100, {1});
  Run(10'000'000);
  EXPECT_THAT(endless->ends_ns, ElementsAre());
  EXPECT_THAT(other->ends_ns, ElementsAre(2'000'100));
}

TEST_F(CpusTest, StallsTakeTheirShareOfTime) {
  // 1000 stalls of 0.25 ms per second of running: 20 % of the time.
  Make("cpus: 1 stalls_per_second: 1000 mean_stall_ns: 250000");
  const std::vector<double> jobs(4000, 1'000'000);
  const auto thread = Start(0, jobs);
  Run(20'000'000'000);
  ASSERT_EQ(thread->ends_ns.size(), jobs.size());
  EXPECT_NEAR(static_cast<double>(thread->ends_ns.back()), 5e9, 0.1e9);
}

}  // namespace
}  // namespace distbench::simulation
