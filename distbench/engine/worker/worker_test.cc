#include "distbench/engine/worker/worker.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "distbench/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {

// What a worker does in a turn that another thread has borrowed.

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Lends the worker's turns: keeps what a borrowing thread needs.
class LendingTransport final : public protocol::Transport {
 public:
  bool Start(protocol::ClientCall*) override { return true; }
  void Reply(protocol::ServerCall*) override {}
  void Poll(int64_t, protocol::TransportEvents& events) override {
    lent = &events;
  }
  void Wake() override {}
  void CancelCalls() override {}

  protocol::TransportEvents* lent = nullptr;
};

class FreezeCounter final : public WorkerGroup {
 public:
  explicit FreezeCounter(const EngineState& engine) : activities_(engine, {}) {}

  Worker& worker(int) override { return *worker_of_test; }
  Activities& activities() override { return activities_; }
  void OnMainListFinished() override {}
  void OnManyPendingRpcs() override {}
  void OnTooMany(const char*) override {}
  void StopOwnTraffic(const std::string&) override {}
  void OnFailure(const absl::Status& failure) override {
    ADD_FAILURE() << failure;
  }
  void WaitOutFreeze(int64_t until_ns) override {
    frozen_until_ns.push_back(until_ns);
  }

  std::vector<int64_t> frozen_until_ns;
  Worker* worker_of_test = nullptr;

 private:
  Activities activities_;
};

// Threads that borrow turns, such as gRPC's, serve other workers too.
TEST(BorrowedTurnTest, TheWorkersOwnThreadStandsStill) {
  auto plan = std::make_shared<config::Plan>();
  plan->services.emplace_back();
  plan->instances.emplace_back().name = "server/0";
  plan->recording_memory_bytes = 1 << 20;
  plan->faults.push_back({.name = "fault",
                          .kind = config::FaultPlan::Kind::kFreeze,
                          .start_ns = 0,
                          .duration_ns = 100,
                          .repeat_ns = 1000});
  base::ManualClock clock;
  LendingTransport transport;
  EngineState engine(plan, 0, 1, clock);
  FreezeCounter group(engine);
  Worker worker(engine, 0, transport, 0, /*seed=*/1, group);
  group.worker_of_test = &worker;

  clock.SetMonotonicNs(500);
  worker.RunOnce();
  ASSERT_NE(transport.lent, nullptr);
  // Already the first freeze may be due when the traffic's start is known.
  worker.StartFaults(400);
  EXPECT_EQ(transport.lent->EndBorrowedTurn(), 400);
  EXPECT_THAT(group.frozen_until_ns, IsEmpty());
  worker.RunOnce();
  EXPECT_THAT(group.frozen_until_ns, IsEmpty()) << "it was over by then";

  clock.SetMonotonicNs(1399);
  EXPECT_EQ(transport.lent->EndBorrowedTurn(), 1400) << "its thread may sleep";
  clock.SetMonotonicNs(1400);
  EXPECT_EQ(transport.lent->EndBorrowedTurn(), 1400);
  EXPECT_THAT(group.frozen_until_ns, IsEmpty());
  worker.RunOnce();
  EXPECT_THAT(group.frozen_until_ns, ElementsAre(1500));
}

}  // namespace
}  // namespace distbench::engine
