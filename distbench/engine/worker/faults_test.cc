// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Faults of one worker over a transport that counts what it is asked for.

#include "distbench/engine/worker/faults.h"

#include <cstdint>
#include <memory>
#include <string>

#include "distbench/base/clock.h"
#include "distbench/results/merge.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::HasSubstr;

class CountingTransport final : public protocol::Transport {
 public:
  explicit CountingTransport(int64_t connections) : connections_(connections) {}
  bool Start(protocol::ClientCall*) override { return true; }
  int64_t BreakConnections() override {
    ++break_count;
    return connections_;
  }
  void Reply(protocol::ServerCall*) override {}
  void Poll(int64_t, protocol::TransportEvents&) override {}
  void Wake() override {}
  void CancelCalls() override {}

  int break_count = 0;

 private:
  const int64_t connections_;
};

config::FaultPlan Error(int64_t start_ns, int64_t duration_ns,
                        int64_t repeat_ns = 0) {
  return {.kind = config::FaultPlan::Kind::kError,
          .start_ns = start_ns,
          .duration_ns = duration_ns,
          .repeat_ns = repeat_ns,
          .error = "UNAVAILABLE: x"};
}

// The faults of the only instance of a test.
class FaultsOfWorkerTest : public ::testing::Test {
 protected:
  void SetUpFaults(config::FaultPlan fault, int64_t connections) {
    auto plan = std::make_shared<config::Plan>();
    plan->services.emplace_back().driver.driver = "brittle";
    plan->instances.emplace_back().name = "server/0";
    plan->recording_memory_bytes = 1 << 20;
    fault.name = "fault";
    plan->faults.push_back(std::move(fault));
    transport_ = std::make_unique<CountingTransport>(connections);
    engine_ = std::make_unique<EngineState>(plan, 0, 1, clock_);
    context_ = std::make_unique<WorkerContext>(*engine_, 0, *transport_, 0,
                                               /*seed=*/1);
    faults_ = std::make_unique<Faults>(*context_);
    if (hears_of_start_) faults_->Start(/*traffic_start_ns=*/1000);
  }

  // Lets the worker look at the time.
  absl::Status TurnAt(int64_t now_ns) {
    context_->now_ns = now_ns;
    if (context_->timers.PopDue(now_ns) == nullptr) return absl::OkStatus();
    return faults_->OnDue();
  }

  FaultLog Log() const {
    ServicePerformanceLog log;
    faults_->AddTo(log);
    return log.fault_logs().at("fault");
  }
  int64_t UnixNs(int64_t monotonic_ns) const {
    return monotonic_ns + engine_->unix_offset_ns();
  }

  bool hears_of_start_ = true;
  base::ManualClock clock_;
  std::unique_ptr<CountingTransport> transport_;
  std::unique_ptr<EngineState> engine_;
  std::unique_ptr<WorkerContext> context_;
  std::unique_ptr<Faults> faults_;
};

TEST_F(FaultsOfWorkerTest, ResetsAtEachMoment) {
  SetUpFaults({.kind = config::FaultPlan::Kind::kResetConnections,
               .start_ns = 500,
               .duration_ns = 0,
               .repeat_ns = 100},
              /*connections=*/3);
  EXPECT_EQ(context_->timers.next_due_ns(), 1500);
  EXPECT_TRUE(TurnAt(1499).ok());
  EXPECT_EQ(transport_->break_count, 0);
  EXPECT_TRUE(TurnAt(1500).ok());
  EXPECT_EQ(transport_->break_count, 1);
  EXPECT_EQ(context_->timers.next_due_ns(), 1600);
  // The moments that were missed are not made up for.
  EXPECT_TRUE(TurnAt(1899).ok());
  EXPECT_EQ(transport_->break_count, 2);
  EXPECT_EQ(context_->timers.next_due_ns(), 1900);
  const FaultLog log = Log();
  EXPECT_EQ(log.connection_count(), 6);
  ASSERT_EQ(log.times_size(), 2);
  EXPECT_EQ(log.times(1).begin_timestamp_ns(), UnixNs(1899));
  EXPECT_EQ(log.times(1).end_timestamp_ns(), UnixNs(1899));
}

TEST_F(FaultsOfWorkerTest, ADriverThatCannotResetIsAnError) {
  SetUpFaults(
      {.kind = config::FaultPlan::Kind::kResetConnections, .duration_ns = 0},
      /*connections=*/-1);
  const absl::Status status = TurnAt(1000);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("driver \"brittle\" cannot break the connections of "
                        "server/0, as fault \"fault\" demands; use another "
                        "driver"));
}

TEST_F(FaultsOfWorkerTest, PeriodsThatWereMissedAreLeftOut) {
  SetUpFaults(Error(/*start_ns=*/0, /*duration_ns=*/10, /*repeat_ns=*/100),
              /*connections=*/0);
  // In the middle of the fourth period.
  EXPECT_TRUE(TurnAt(1305).ok());
  EXPECT_TRUE(faults_->Affects(0));
  EXPECT_TRUE(faults_->Affects(config::kNone));
  EXPECT_EQ(context_->timers.next_due_ns(), 1310);
  EXPECT_TRUE(TurnAt(1310).ok());
  EXPECT_FALSE(faults_->Affects(0));
  EXPECT_EQ(context_->timers.next_due_ns(), 1400);
  // Between two.
  EXPECT_TRUE(TurnAt(1450).ok());
  EXPECT_FALSE(faults_->Affects(0));
  EXPECT_EQ(context_->timers.next_due_ns(), 1500);
  EXPECT_EQ(Log().times_size(), 1);
}

// Clients of other hosts may send before the server's workers hear of the
// start.
TEST_F(FaultsOfWorkerTest, WhatBeginsWithTheTrafficHoldsFromTheFirstRequest) {
  hears_of_start_ = false;
  SetUpFaults(Error(/*start_ns=*/0, /*duration_ns=*/100), /*connections=*/0);
  EXPECT_TRUE(faults_->Affects(0));
  EXPECT_EQ(faults_->DrawError(0), "UNAVAILABLE: x");
  faults_->Start(/*traffic_start_ns=*/1000);
  EXPECT_TRUE(TurnAt(1040).ok());
  EXPECT_TRUE(faults_->Affects(0));
  EXPECT_TRUE(TurnAt(1100).ok());
  EXPECT_FALSE(faults_->Affects(0));
  const FaultLog log = Log();
  EXPECT_EQ(log.request_count(), 1);
  ASSERT_EQ(log.times_size(), 1);
  EXPECT_EQ(log.times(0).begin_timestamp_ns(), UnixNs(1000));
  EXPECT_EQ(log.times(0).end_timestamp_ns(), UnixNs(1100));
}

TEST_F(FaultsOfWorkerTest, WhatBeginsLaterDoesNotHoldBefore) {
  hears_of_start_ = false;
  SetUpFaults(Error(/*start_ns=*/1, /*duration_ns=*/100), /*connections=*/0);
  EXPECT_FALSE(faults_->Affects(0));
}

TEST_F(FaultsOfWorkerTest, NothingHoldsOnceStopped) {
  hears_of_start_ = false;
  SetUpFaults(Error(/*start_ns=*/0, /*duration_ns=*/100), /*connections=*/0);
  faults_->Stop();
  EXPECT_FALSE(faults_->Affects(0));
}

TEST_F(FaultsOfWorkerTest, NothingIsDueAfterTheLastPeriod) {
  SetUpFaults({.kind = config::FaultPlan::Kind::kFreeze, .duration_ns = 10},
              /*connections=*/0);
  EXPECT_TRUE(TurnAt(1000).ok());
  EXPECT_EQ(faults_->frozen_until_ns(), 1010);
  EXPECT_TRUE(TurnAt(1010).ok());
  EXPECT_TRUE(context_->timers.empty());
}

TEST_F(FaultsOfWorkerTest, OnlyTheFirstTimesAreKept) {
  SetUpFaults(Error(/*start_ns=*/0, /*duration_ns=*/10, /*repeat_ns=*/100),
              /*connections=*/0);
  const int64_t last_begin_ns = 1000 + 100 * (results::kMaxFaultTimes - 1);
  for (int64_t ns = 1000; ns <= last_begin_ns + 100; ns += 100) {
    EXPECT_TRUE(TurnAt(ns).ok());
    EXPECT_EQ(faults_->DrawError(0), "UNAVAILABLE: x");
    EXPECT_TRUE(TurnAt(ns + 10).ok());
  }
  const FaultLog log = Log();
  EXPECT_EQ(log.request_count(), results::kMaxFaultTimes + 1);
  ASSERT_EQ(log.times_size(), results::kMaxFaultTimes);
  const FaultTime& last = log.times(results::kMaxFaultTimes - 1);
  EXPECT_EQ(last.begin_timestamp_ns(), UnixNs(last_begin_ns));
  EXPECT_EQ(last.end_timestamp_ns(), UnixNs(last_begin_ns + 10));
}

TEST_F(FaultsOfWorkerTest, StoppingEndsWhatIsInEffect) {
  SetUpFaults(
      {.kind = config::FaultPlan::Kind::kError, .error = "UNAVAILABLE: x"},
      /*connections=*/0);
  EXPECT_TRUE(TurnAt(1000).ok());
  EXPECT_EQ(faults_->DrawError(0), "UNAVAILABLE: x");
  context_->now_ns = 3000;
  faults_->Stop();
  EXPECT_FALSE(faults_->Affects(0));
  EXPECT_EQ(faults_->DrawError(0), "");
  const FaultLog log = Log();
  EXPECT_EQ(log.request_count(), 1);
  ASSERT_EQ(log.times_size(), 1);
  EXPECT_EQ(log.times(0).end_timestamp_ns(), UnixNs(3000));
}

}  // namespace
}  // namespace distbench::engine
