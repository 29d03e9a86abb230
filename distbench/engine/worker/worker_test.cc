// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/worker/worker.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// ---- Turns that other threads borrow ----------------------------------------

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

class GroupOfOne final : public WorkerGroup {
 public:
  explicit GroupOfOne(const EngineState& engine)
      : activities_(engine, {}), inbox_(engine.plan(), engine.instance()) {}

  Worker& worker(int) override { return *worker_of_test; }
  Activities& activities() override { return activities_; }
  Inbox& inbox() override { return inbox_; }
  void OnMainListFinished() override {}
  int64_t OnManyPendingRpcs() override {
    ++many_pending_rpcs;
    return rpcs_left;
  }
  void OnMuchPendingWork(const char*, const char*) override {}
  void StopOwnTraffic(const std::string&) override {}
  void OnFailure(const absl::Status& failure) override {
    ADD_FAILURE() << failure;
  }
  void WaitOutFreeze(int64_t until_ns) override {
    frozen_until_ns.push_back(until_ns);
  }

  std::vector<int64_t> frozen_until_ns;
  int many_pending_rpcs = 0;  // how often
  int64_t rpcs_left = 0;
  Worker* worker_of_test = nullptr;

 private:
  Activities activities_;
  Inbox inbox_;
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
  GroupOfOne group(engine);
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

// ---- Calls that wait for a full send queue ----------------------------------

// Has full send queues at first. Then it starts each call, and marks it by
// another peer until it ends, as the router of external services does.
class MarkingTransport final : public protocol::Transport {
 public:
  bool Start(protocol::ClientCall* call) override {
    if (is_full || started.size() == kMostStarted) return false;
    started.push_back(call->server_instance);
    call->peer = 1 - call->peer;
    return true;
  }
  void Reply(protocol::ServerCall*) override {}
  void Poll(int64_t, protocol::TransportEvents&) override {}
  void Wake() override {}
  void CancelCalls() override {}

  bool is_full = true;
  std::vector<int> started;  // server_instance of each call

 private:
  static constexpr size_t kMostStarted = 10;  // ends a loop without an end
};

// A client that calls both instances of a server once.
std::shared_ptr<const config::Plan> ClientOfTwoServers() {
  auto plan = std::make_shared<config::Plan>();
  plan->recording_memory_bytes = 1 << 20;
  plan->max_pending_rpcs = 100;
  plan->max_pending_work = 100;
  config::ServicePlan& client = plan->services.emplace_back();
  client.main_list = 0;
  config::ServicePlan& server = plan->services.emplace_back();
  server.first_instance = 1;
  server.instance_count = server.sizes[0] = 2;
  plan->instances = {{.name = "client/0"},
                     {.name = "server/0", .service = 1},
                     {.name = "server/1", .service = 1, .number = 1}};
  config::RpcPlan& rpc = plan->rpcs.emplace_back();
  rpc.client_services = {0};
  rpc.server_service = 1;
  rpc.handler_list = 1;
  config::ActionPlan& action =
      plan->lists.emplace_back().actions.emplace_back();
  action.kind = config::ActionPlan::Kind::kRpc;
  action.target = 0;
  plan->lists.emplace_back();
  return plan;
}

TEST(WaitingCallTest, LeavesItsQueueThoughItsPeerHasChanged) {
  base::ManualClock clock;
  clock.SetMonotonicNs(1000);
  MarkingTransport transport;
  EngineState engine(ClientOfTwoServers(), 0, 1, clock);
  GroupOfOne group(engine);
  Worker worker(engine, 0, transport, 0, /*seed=*/1, group);
  group.worker_of_test = &worker;

  worker.StartMainList(1000);
  worker.RunOnce();
  EXPECT_THAT(transport.started, IsEmpty());
  EXPECT_NE(worker.next_due_ns(), TimerQueue::kNever) << "calls wait";
  transport.is_full = false;
  worker.RunOnce();
  EXPECT_THAT(transport.started, ElementsAre(0, 1));
  EXPECT_EQ(worker.next_due_ns(), TimerQueue::kNever);
}

// ---- Time parts of requests -------------------------------------------------

// Brings requests, and notes when the handlers of those answered began.
class RequestingTransport final : public protocol::Transport {
 public:
  bool Start(protocol::ClientCall*) override { return true; }
  void Reply(protocol::ServerCall* call) override {
    begun_ns[call] = call->begun_ns;
  }
  void Poll(int64_t, protocol::TransportEvents& events) override {
    if (request != nullptr) events.OnRequest(std::exchange(request, nullptr));
  }
  void Wake() override {}
  void CancelCalls() override {}

  protocol::ServerCall* request = nullptr;
  std::map<const protocol::ServerCall*, int64_t> begun_ns;
};

TEST(TimePartsTest, TheWholeWaitOfARefusedRequestIsTheQueues) {
  auto plan = std::make_shared<config::Plan>(*ClientOfTwoServers());
  plan->measures_time_parts = true;
  plan->services[1].admission = config::AdmissionPlan{
      .max_running = 1, .max_waiting = 1, .refuses_oldest = true};
  // The handler lasts longer than the test.
  config::ActionPlan& work = plan->lists[1].actions.emplace_back();
  work.iterations = {
      .max_count = 2, .open_loop = true, .interval_ns = 1'000'000};
  // Another RPC's requests are answered at once.
  plan->rpcs.push_back(plan->rpcs[0]);
  plan->rpcs[1].handler_list = 2;
  plan->lists.emplace_back();
  base::ManualClock clock;
  RequestingTransport transport;
  EngineState engine(plan, 1, 1, clock);
  GroupOfOne group(engine);
  Worker worker(engine, 0, transport, 0, /*seed=*/1, group);
  group.worker_of_test = &worker;

  protocol::ServerCall requests[4];
  requests[3].rpc_index = 1;
  for (int i = 0; i < 4; ++i) {
    clock.SetMonotonicNs(1000 + i);
    requests[i].server_instance = protocol::kAnyInstance;
    requests[i].received_ns = clock.MonotonicNs();
    transport.request = &requests[i];
    worker.RunOnce();
  }
  // The first one runs, and the third one waits in place of the second.
  EXPECT_THAT(
      transport.begun_ns,
      UnorderedElementsAre(Pair(&requests[1], 1002), Pair(&requests[3], 1003)));
  EXPECT_EQ(requests[0].begun_ns, 1000);
}

// ---- Limits -----------------------------------------------------------------

// The engine then adds up what all workers have in flight.
TEST(LimitsTest, SeldomAsksWhetherTooManyRpcsArePending) {
  auto plan = std::make_shared<config::Plan>(*ClientOfTwoServers());
  config::IterationsPlan& loop = plan->lists[0].actions[0].iterations;
  loop.max_count = config::kUnlimited;
  loop.max_parallel = 200;
  plan->max_pending_rpcs = 300;
  base::ManualClock clock;
  clock.SetMonotonicNs(1000);
  LendingTransport transport;
  EngineState engine(plan, 0, 1, clock);
  GroupOfOne group(engine);
  Worker worker(engine, 0, transport, 0, /*seed=*/1, group);
  group.worker_of_test = &worker;
  group.rpcs_left = 40;

  worker.StartMainList(1000);
  worker.RunOnce();
  EXPECT_EQ(worker.progress().in_flight.load(), 400);
  // At 302, 344 and 386; each iteration sends two.
  EXPECT_EQ(group.many_pending_rpcs, 3);
}

// Ends all calls that were started before a turn's end then, if it is to.
class EndingTransport final : public protocol::Transport {
 public:
  bool Start(protocol::ClientCall* call) override {
    calls.push_back(call);
    ++started;
    return true;
  }
  void Reply(protocol::ServerCall*) override {}
  void Poll(int64_t, protocol::TransportEvents& events) override {
    if (!ends) return;
    for (protocol::ClientCall* call : std::exchange(calls, {})) {
      call->sent_ns = call->done_ns = clock->MonotonicNs();
      call->sent_bytes = call->received_bytes = 0;
      call->responding_instance = protocol::kNoInstance;
      call->error = error;
      events.OnDone(call);
    }
  }
  void Wake() override {}
  void CancelCalls() override {}

  base::ManualClock* clock = nullptr;
  bool ends = false;
  std::string error = "UNAVAILABLE: dead";
  int started = 0;
  std::vector<protocol::ClientCall*> calls;
};

// Places that failed together are due together, and must not keep the worker
// from everything else, nor call a dead peer all at once.
TEST(LimitsTest, PlacesThatHavePausedStartInSeveralTurns) {
  constexpr int kPlaces = 2000;
  // Each iteration sends two. Timers start a turn's iterations, and so do the
  // actions that were left over.
  constexpr int kMostInTurn = 2 * 2 * 256;
  auto plan = std::make_shared<config::Plan>(*ClientOfTwoServers());
  config::IterationsPlan& loop = plan->lists[0].actions[0].iterations;
  loop.max_count = config::kUnlimited;
  loop.max_parallel = kPlaces;
  plan->max_pending_rpcs = plan->max_pending_work = 10 * kPlaces;
  base::ManualClock clock;
  clock.SetMonotonicNs(1000);
  EndingTransport transport;
  transport.clock = &clock;
  EngineState engine(plan, 0, 1, clock);
  GroupOfOne group(engine);
  Worker worker(engine, 0, transport, 0, /*seed=*/1, group);
  group.worker_of_test = &worker;

  worker.StartMainList(1000);
  for (int turn = 0; turn < 10; ++turn) worker.RunOnce();
  ASSERT_EQ(transport.started, 2 * kPlaces);
  transport.ends = true;
  worker.RunOnce();
  for (int64_t pause_ns = 1000; pause_ns <= 8000; pause_ns *= 2) {
    ASSERT_EQ(worker.next_due_ns(), clock.MonotonicNs() + pause_ns);
    clock.SetMonotonicNs(worker.next_due_ns());
    transport.started = 0;
    for (int turn = 0; turn < 10; ++turn) {
      const int started_before = transport.started;
      worker.RunOnce();
      EXPECT_LE(transport.started - started_before, kMostInTurn);
    }
    EXPECT_EQ(transport.started, 2 * kPlaces);
  }
}

// ---- Pauses after failures --------------------------------------------------

// The list's only action is a closed loop of calls that are sent again.
TEST(PauseTest, AListHasNotFailedIfAnyCallOfALoopHasSucceeded) {
  constexpr int kCalls = 3;
  auto plan = std::make_shared<config::Plan>(*ClientOfTwoServers());
  plan->services[1].instance_count = plan->services[1].sizes[0] = 1;
  plan->instances.pop_back();
  config::ListPlan& calls = plan->lists.emplace_back(plan->lists[0]);
  calls.actions[0].iterations.max_count = kCalls;
  config::ActionPlan& loop = plan->lists[0].actions[0];
  loop.kind = config::ActionPlan::Kind::kList;
  loop.target = 2;
  loop.iterations.max_count = config::kUnlimited;
  base::ManualClock clock;
  clock.SetMonotonicNs(1000);
  EndingTransport transport;
  transport.clock = &clock;
  transport.ends = true;
  EngineState engine(plan, 0, 1, clock);
  GroupOfOne group(engine);
  Worker worker(engine, 0, transport, 0, /*seed=*/1, group);
  group.worker_of_test = &worker;

  worker.StartMainList(1000);
  for (int list = 0; list < 2; ++list) {
    transport.error.clear();
    for (int call = 1; call < kCalls; ++call) worker.RunOnce();
    transport.error = "UNAVAILABLE: dead";
    worker.RunOnce();
    EXPECT_EQ(transport.started, (list + 1) * kCalls + 1) << "it pauses";
  }
}

}  // namespace
}  // namespace distbench::engine
