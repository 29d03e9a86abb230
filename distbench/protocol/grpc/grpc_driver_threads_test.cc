// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests that each threading model uses the threads that it should.

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/base/threads.h"
#include "distbench/protocol/grpc/testing/driver_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::Each;

// A server whose worker is the test's thread, which keeps requests until they
// are answered one by one, and a client that calls it.
class ThreadsTest : public testing::TestWithParam<Mode> {
 protected:
  void Start(const std::string& pool_type, int64_t pool_size,
             const std::vector<bool>& immediate_rpcs = {}) {
    Mode mode = GetParam();
    mode.pool_type = pool_type;
    mode.pool_size = pool_size;
    StartMode(mode, immediate_rpcs);
  }

  void StartMode(const Mode& mode, const std::vector<bool>& immediate_rpcs) {
    server_ = MakeDriver(mode, immediate_rpcs);
    const std::string address = server_->Listen(1).value();
    server_events_ = std::make_unique<Events>(
        server_->transport(0),
        [this](Transport&, ServerCall* call) { waiting_.push_back(call); });
    const PollingThread polled(server_->transport(0));
    client_ = std::make_unique<Client>(mode, std::vector<std::string>{address});
  }

  void StartCalls(std::vector<ClientCall>& calls) {
    for (ClientCall& call : calls) {
      ASSERT_TRUE(client_->transport().Start(&call));
    }
  }

  // Polls both sides. Returns false if the condition does not hold in time.
  template <typename Condition>
  bool PollUntil(Condition condition) {
    const int64_t give_up_ns = base::NowNs() + 20'000'000'000;
    while (!condition()) {
      if (base::NowNs() > give_up_ns) return false;
      server_->transport(0).Poll(base::NowNs() + 100'000, *server_events_);
      client_->transport().Poll(base::NowNs() + 100'000, client_->events());
    }
    return true;
  }

  void AnswerOldest() {
    ServerCall* call = waiting_.front();
    waiting_.erase(waiting_.begin());
    Events::ReplyAsAsked(server_->transport(0), call);
  }

  void AnswerAll() {
    while (!waiting_.empty()) AnswerOldest();
  }

  size_t finished_count() { return client_->events().finished_count(); }

  int64_t handler_threads() {
    const std::vector<DriverCounter> counters = server_->Counters();
    if (counters.size() != 1) return -1;
    EXPECT_EQ(counters[0].name, "handler_threads");
    return counters[0].value;
  }

  std::unique_ptr<ProtocolDriver> server_;
  std::unique_ptr<Events> server_events_;
  std::vector<ServerCall*> waiting_;
  std::unique_ptr<Client> client_;
};

TEST_P(ThreadsTest, SimplePoolsHandleAsManyRequestsAsTheyHaveThreads) {
  constexpr size_t kThreads = 2;
  Start("simple", kThreads);
  std::vector<ClientCall> calls(10);
  StartCalls(calls);
  while (finished_count() < calls.size()) {
    const size_t left = calls.size() - finished_count();
    const size_t expected = std::min(left, kThreads);
    ASSERT_TRUE(PollUntil([&] { return waiting_.size() == expected; }));
    // However long it waits, nothing else is handled before an answer.
    for (int i = 0; i < 10; ++i) {
      server_->transport(0).Poll(base::NowNs() + 100'000, *server_events_);
    }
    ASSERT_EQ(waiting_.size(), expected);
    const size_t finished = finished_count();
    AnswerOldest();
    ASSERT_TRUE(PollUntil([&] { return finished_count() > finished; }));
  }
  EXPECT_EQ(handler_threads(), kThreads);
}

TEST_P(ThreadsTest, ElasticPoolsHandleAllRequestsAtOnce) {
  Start("elastic", 1);
  std::vector<ClientCall> calls(20);
  StartCalls(calls);
  ASSERT_TRUE(PollUntil([&] { return waiting_.size() == calls.size(); }));
  EXPECT_EQ(handler_threads(), calls.size());
  AnswerAll();
  EXPECT_TRUE(PollUntil([&] { return finished_count() == calls.size(); }));
}

TEST_P(ThreadsTest, NullPoolsStartAThreadPerRequest) {
  Start("null", 1);
  EXPECT_EQ(handler_threads(), 0);
  std::vector<ClientCall> calls(20);
  StartCalls(calls);
  ASSERT_TRUE(PollUntil([&] { return waiting_.size() == calls.size(); }));
  EXPECT_EQ(handler_threads(), calls.size());
  AnswerAll();
  EXPECT_TRUE(PollUntil([&] { return finished_count() == calls.size(); }));
}

TEST_P(ThreadsTest, ImmediateRpcsNeedNoThread) {
  Start("null", 1, /*immediate_rpcs=*/{false, true});
  std::vector<ClientCall> calls(20);
  for (ClientCall& call : calls) call.rpc_index = 1;
  StartCalls(calls);
  ASSERT_TRUE(PollUntil([&] {
    AnswerAll();
    return finished_count() == calls.size();
  }));
  EXPECT_EQ(handler_threads(), 0);

  // The other RPC does need a thread; so do an unknown RPC and a request for
  // processing time.
  std::vector<ClientCall> others(3);
  others[1].rpc_index = 2;
  others[2].rpc_index = 1;
  others[2].processing_ns = 1000;
  StartCalls(others);
  ASSERT_TRUE(PollUntil([&] { return waiting_.size() == others.size(); }));
  EXPECT_EQ(handler_threads(), others.size());
  AnswerAll();
  EXPECT_TRUE(PollUntil([&] { return finished_count() == 23; }));
}

TEST_P(ThreadsTest, RequestsInAPoolEndWithTheServer) {
  Start("simple", 1);
  std::vector<ClientCall> calls(5);
  StartCalls(calls);
  ASSERT_TRUE(PollUntil([&] { return waiting_.size() == 1; }));
  // One request occupies the thread and four wait for it; nothing is polled.
  server_.reset();
  ASSERT_TRUE(client_->events().PollUntil(
      [&] { return finished_count() == calls.size(); }));
}

TEST_P(ThreadsTest, AllRequestsGoThroughThePoolIfTheSettingsSaySo) {
  Mode mode = GetParam();
  mode.pool_type = "null";
  mode.pool_use = "all";
  StartMode(mode, /*immediate_rpcs=*/{true});
  std::vector<ClientCall> calls(20);
  StartCalls(calls);
  ASSERT_TRUE(PollUntil([&] { return waiting_.size() == calls.size(); }));
  EXPECT_EQ(handler_threads(), calls.size());
  AnswerAll();
  EXPECT_TRUE(PollUntil([&] { return finished_count() == calls.size(); }));
}

INSTANTIATE_TEST_SUITE_P(Pools, ThreadsTest,
                         testing::Values(Mode{.server_type = "polling"},
                                         Mode{.server_type = "handoff"}),
                         ModeName);

TEST(GrpcDriverThreadsTest, HandlingInlineTakesNoPool) {
  auto driver = MakeDriver();
  ASSERT_TRUE(driver->Listen(1).ok());
  EXPECT_TRUE(driver->Counters().empty());
}

std::string OwnName() {
  char name[16] = {};
  pthread_getname_np(pthread_self(), name, sizeof(name));
  return name;
}

// The names of the threads that ran turns of two workers, other than the
// workers' own.
struct OtherThreads {
  int requests = 0;  // of all threads
  std::set<std::string> with_requests;
  std::set<std::string> with_ends;  // of calls
};

// Calls a service whose worker only handles requests, some times at least, and
// until others have run the turns that may be theirs, or for too long.
// expects_other: whether requests may be theirs.
OtherThreads ThreadsThatRunTurns(const Mode& server, const Mode& client,
                                 const std::vector<bool>& immediate_rpcs,
                                 bool expects_other) {
  OtherThreads others;
  auto driver = MakeDriver(server, immediate_rpcs);
  const std::string address = driver->Listen(1).value();
  std::atomic<bool> request_by_other = !expects_other;
  std::atomic<bool> stopped = false;
  std::thread worker([&] {
    const std::thread::id own = std::this_thread::get_id();
    Events events(driver->transport(0),
                  [&, own](Transport& transport, ServerCall* call) {
                    ++others.requests;
                    if (std::this_thread::get_id() != own) {
                      others.with_requests.insert(OwnName());
                      request_by_other = true;
                    }
                    Events::ReplyAsAsked(transport, call);
                  });
    while (!stopped) driver->transport(0).Poll(kNever, events);
  });
  bool end_by_other = client.client_type == "polling";
  {
    Client caller(client, {address});
    caller.events().on_done = [&,
                               own = std::this_thread::get_id()](ClientCall*) {
      if (std::this_thread::get_id() == own) return;
      others.with_ends.insert(OwnName());
      end_by_other = true;
    };
    constexpr int kFewestCalls = 20;
    const int64_t give_up_ns = base::NowNs() + 20'000'000'000;
    for (int i = 0; i < kFewestCalls || (!(request_by_other && end_by_other) &&
                                         base::NowNs() < give_up_ns);
         ++i) {
      ClientCall call;
      EXPECT_EQ(caller.Call(call), "");
    }
  }
  driver->Shutdown();
  stopped = true;
  driver->transport(0).Wake();
  worker.join();
  return others;
}

TEST(GrpcDriverThreadsTest, WhoBringsARequestRunsTheTurnOfASleepingWorker) {
  // What gRPC 1.51 names the threads that run callbacks.
  const std::string callbacks = "nexting_thread";
  const std::string pool = base::kHandlerThread;
  struct Case {
    std::string server_type;
    std::vector<bool> immediate_rpcs;
    std::set<std::string> threads;
  };
  const Case cases[] = {
      {"inline", {}, {}},      {"inline", {true}, {}},
      {"polling", {}, {pool}}, {"polling", {true}, {}},
      {"handoff", {}, {pool}}, {"handoff", {true}, {callbacks}}};
  for (const char* client : {"polling", "callback"}) {
    for (const Case& server : cases) {
      SCOPED_TRACE(std::string(client) + " " + server.server_type);
      const OtherThreads others = ThreadsThatRunTurns(
          {.server_type = server.server_type}, {.client_type = client},
          server.immediate_rpcs, !server.threads.empty());
      EXPECT_GT(others.requests, 0);
      EXPECT_EQ(others.with_requests, server.threads);
      EXPECT_EQ(others.with_ends, client == std::string("polling")
                                      ? std::set<std::string>{}
                                      : std::set<std::string>{callbacks});
    }
  }
}

// Requests that arrive for all workers go to them in turn.
TEST(GrpcDriverThreadsTest, AWorkerThatStoodStillGetsItsShareAndNoMore) {
  constexpr int kWorkers = 2;
  constexpr int kShare = 300;  // more than are asked for in advance
  constexpr int kLaterShare = 25;
  const Mode mode = {.server_type = "handoff"};
  auto driver = MakeDriver(mode, /*immediate_rpcs=*/{true});
  const std::string address = driver->Listen(kWorkers).value();
  int requests[kWorkers] = {};
  std::vector<std::unique_ptr<Events>> events;
  for (int& count : requests) {
    events.push_back(std::make_unique<Events>(
        driver->transport(&count - requests),
        [&count](Transport& transport, ServerCall* call) {
          ++count;
          Events::ReplyAsAsked(transport, call);
        }));
  }
  Client client(mode, {address});
  const auto poll_until = [&](int first_worker, size_t finished) {
    const int64_t give_up_ns = base::NowNs() + 20'000'000'000;
    while (client.events().finished_count() < finished) {
      if (base::NowNs() > give_up_ns) return false;
      for (int i = first_worker; i < kWorkers; ++i) {
        driver->transport(i).Poll(base::NowNs() + 100'000, *events[i]);
      }
      client.transport().Poll(base::NowNs() + 100'000, client.events());
    }
    return true;
  };
  std::vector<ClientCall> calls(kWorkers * kShare);
  for (ClientCall& call : calls) ASSERT_TRUE(client.transport().Start(&call));
  ASSERT_TRUE(poll_until(1, kShare));  // the first worker stands still
  ASSERT_TRUE(poll_until(0, calls.size()));
  EXPECT_THAT(requests, Each(kShare));

  // Afterwards each gets its share again, however calls follow each other.
  std::vector<ClientCall> later(kWorkers * kLaterShare);
  for (size_t i = 0; i < later.size(); ++i) {
    ASSERT_TRUE(client.transport().Start(&later[i]));
    ASSERT_TRUE(poll_until(0, calls.size() + i + 1));
  }
  EXPECT_THAT(requests, Each(kShare + kLaterShare));
}

// More than are asked for in advance arrive at once, and none is answered.
TEST(GrpcDriverThreadsTest, AnyNumberOfRequestsReachesTheHandler) {
  for (const char* server_type : {"inline", "polling", "handoff"}) {
    SCOPED_TRACE(server_type);
    const Mode mode = {.server_type = server_type};
    auto driver = MakeDriver(mode, /*immediate_rpcs=*/{true});
    const std::string address = driver->Listen(1).value();
    std::vector<ServerCall*> waiting;
    Events events(driver->transport(0), [&](Transport&, ServerCall* call) {
      waiting.push_back(call);
    });
    std::unique_ptr<Client> client;
    {
      const PollingThread polled(driver->transport(0));
      client = std::make_unique<Client>(Mode(), std::vector{address});
    }
    std::vector<ClientCall> calls(1000);
    for (ClientCall& call : calls) {
      ASSERT_TRUE(client->transport().Start(&call));
    }
    ASSERT_TRUE(events.PollUntil([&] {
      client->transport().Poll(base::NowNs(), client->events());
      return waiting.size() == calls.size();
    }));
    for (ServerCall* call : waiting) {
      Events::ReplyAsAsked(driver->transport(0), call);
    }
    ASSERT_TRUE(client->events().PollUntil([&] {
      driver->transport(0).Poll(base::NowNs(), events);
      return client->events().finished_count() == calls.size();
    }));
    for (const ClientCall& call : calls) {
      EXPECT_EQ(client->events().error(call), "");
    }
  }
}

// Starts a call, polls only after it has been answered, and returns whether it
// ended before that.
bool EndsWithoutPolling(Client& client, const std::atomic<int>& answered) {
  ClientCall call{.request_bytes = 16};
  bool done = false;
  client.events().on_done = [&](ClientCall*) { done = true; };
  const int answered_before = answered;
  EXPECT_TRUE(client.transport().Start(&call));
  while (answered == answered_before) {
    if (base::NowNs() > call.sent_ns + 1'000'000'000) break;
  }
  const int64_t poll_ns = base::NowNs() + 1'000'000;
  while (base::NowNs() < poll_ns) {
  }
  EXPECT_TRUE(client.events().PollUntil([&] { return done; }));
  return call.done_ns < poll_ns;
}

TEST(GrpcDriverThreadsTest, CallbacksTakeTheTimeWhileTheWorkerIsBusy) {
  std::atomic<int> answered = 0;
  Service service({}, [&](Transport& transport, ServerCall* call) {
    Events::ReplyAsAsked(transport, call);
    ++answered;
  });
  Client callback({.client_type = "callback"}, {service.address()});
  const int64_t give_up_ns = base::NowNs() + 20'000'000'000;
  while (!EndsWithoutPolling(callback, answered)) {
    ASSERT_LT(base::NowNs(), give_up_ns);
  }

  // With a queue, by contrast, the ends of calls wait until they are taken.
  Client polling({.client_type = "polling"}, {service.address()});
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(EndsWithoutPolling(polling, answered));
  }
}

}  // namespace
}  // namespace distbench::protocol
