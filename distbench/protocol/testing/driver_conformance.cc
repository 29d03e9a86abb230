// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/testing/driver_conformance.h"

#include <atomic>
#include <cstdint>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/call_table.h"
#include "gmock/gmock.h"

namespace distbench::protocol {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Returns an announced address in the form that errors quote.
std::string DialledAddress(const std::string& announced) {
  const bool is_tls = announced.starts_with("tls:");
  return is_tls ? announced.substr(4) : announced;
}

TEST_P(DriverConformanceTest, SizesAreExactInBothDirections) {
  std::atomic<int64_t> request_bytes = 0;
  const auto server = Serve([&](Transport& transport, ServerCall* call) {
    request_bytes = call->request_bytes;
    TestEvents::ReplyAsAsked(transport, call);
  });
  const auto client = ConnectTo({server->address()});
  for (int64_t size : {16,      17,
                       23,      24,
                       25,      127,
                       128,     129,
                       130,     131,
                       137,     138,
                       139,     140,
                       196,     511,
                       512,     513,
                       540,     1000,
                       16384,   16390,
                       65536,   262144,
                       1 << 20, (1 << 20) + 1,
                       3 << 20}) {
    ClientCall call{.request_bytes = size, .response_bytes = size};
    ASSERT_EQ(client->Call(call), "") << size;
    EXPECT_EQ(request_bytes, size);
    EXPECT_EQ(call.sent_bytes, size);
    EXPECT_EQ(call.received_bytes, size);
  }
}

TEST_P(DriverConformanceTest, HeaderFieldsArrive) {
  LastRequest last;
  const auto server = Serve([&](Transport& transport, ServerCall* call) {
    last.Keep(*call);
    call->reply_instance = 11;
    transport.Reply(call);
  });
  const auto client = ConnectTo({server->address()});
  const std::string trace(300, 'T');
  ClientCall call{.rpc_index = 3,
                  .server_instance = 5,
                  .warmup = true,
                  .request_bytes = 1000,
                  .response_bytes = 7,
                  .processing_ns = 1234,
                  .trace_context = trace};
  const int64_t before_ns = base::NowNs();
  ASSERT_EQ(client->Call(call), "");
  const LastRequest::Seen seen = last.Get();
  EXPECT_EQ(seen.call.rpc_index, 3);
  EXPECT_EQ(seen.call.server_instance, 5);
  EXPECT_TRUE(seen.call.warmup);
  EXPECT_EQ(seen.call.request_bytes, 1000);
  EXPECT_EQ(seen.call.response_bytes, 7);
  EXPECT_EQ(seen.call.processing_ns, 1234);
  EXPECT_EQ(seen.trace, trace);
  EXPECT_EQ(call.responding_instance, 11);
  EXPECT_LE(before_ns, call.sent_ns);
  EXPECT_LE(call.sent_ns, seen.call.received_ns);
  EXPECT_LE(seen.call.received_ns, call.done_ns);
  EXPECT_LE(call.done_ns, base::NowNs());

  ClientCall plain{.server_instance = kAnyInstance, .request_bytes = 100};
  ASSERT_EQ(client->Call(plain), "");
  EXPECT_EQ(plain.server_queue_ns, kNotReported);
  EXPECT_EQ(plain.server_handler_ns, kNotReported);
  EXPECT_EQ(plain.wire_ns, kNotReported);
  const LastRequest::Seen seen_plain = last.Get();
  EXPECT_EQ(seen_plain.call.server_instance, kAnyInstance);
  EXPECT_FALSE(seen_plain.call.warmup);
  EXPECT_EQ(seen_plain.call.response_bytes, kServerDecides);
  EXPECT_EQ(seen_plain.trace, "");
}

TEST_P(DriverConformanceTest, ErrorsOfTheReplyArrive) {
  const auto server = Serve([](Transport& transport, ServerCall* call) {
    call->reply_error = "Traffic cancelled: enough";
    call->reply_bytes = 1000;
    transport.Reply(call);
  });
  const auto client = ConnectTo({server->address()});
  ClientCall call{.request_bytes = 16};
  EXPECT_EQ(client->Call(call), "Traffic cancelled: enough");
  EXPECT_EQ(call.received_bytes, 1000);
}

TEST_P(DriverConformanceTest, RepliesMayComeLaterAndInAnyOrder) {
  std::vector<ServerCall*> waiting;
  const auto server = Serve([&](Transport& transport, ServerCall* call) {
    waiting.push_back(call);
    if (waiting.size() < 3) return;
    while (!waiting.empty()) {
      TestEvents::ReplyAsAsked(transport, waiting.back());
      waiting.pop_back();
    }
  });
  const auto client = ConnectTo({server->address()});
  ClientCall calls[3];
  int instance = 0;
  for (ClientCall& call : calls) {
    call.server_instance = instance++;
    ASSERT_TRUE(client->transport().Start(&call));
  }
  ASSERT_TRUE(client->events().PollUntil(
      [&] { return client->events().finished_count() == 3; }));
  for (ClientCall& call : calls) {
    EXPECT_EQ(client->events().error(call), "");
    EXPECT_EQ(call.responding_instance, call.server_instance);
  }
}

TEST_P(DriverConformanceTest, KeepsAHundredInFlight) {
  constexpr int kInFlight = 100;
  constexpr int kTotal = 20'000;
  const auto server = Serve();
  const auto client = ConnectTo({server->address()});
  std::vector<ClientCall> calls(kInFlight);
  int started = 0;
  int done = 0;
  client->events().on_done = [&](ClientCall* call) {
    ASSERT_EQ(call->error, "");
    ASSERT_EQ(call->received_bytes, 50 + call->server_instance);
    ASSERT_LE(call->sent_ns, call->done_ns);
    ++done;
    if (started == kTotal) return;
    ++started;
    call->sent_ns = INT64_MAX;
    ASSERT_TRUE(client->transport().Start(call));
  };
  for (ClientCall& call : calls) {
    call.server_instance = started++;
    call.response_bytes = 50 + call.server_instance;
    ASSERT_TRUE(client->transport().Start(&call));
  }
  EXPECT_TRUE(client->events().PollUntil([&] { return done == kTotal; }));
}

TEST_P(DriverConformanceTest, EveryWorkerCalls) {
  constexpr int kWorkers = 2;
  const auto server = Serve(TestEvents::ReplyAsAsked, kWorkers);
  const auto driver = MakeDriver();
  ASSERT_TRUE(driver->Listen(kWorkers).ok());
  ASSERT_TRUE(
      driver
          ->Connect(SingleServers({server->address(), server->address()}),
                    absl::Now() + absl::Seconds(20))
          .ok());
  std::vector<std::thread> threads;
  for (int worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([&driver, worker] {
      TestEvents events(driver->transport(worker));
      for (int i = 0; i < 500; ++i) {
        ClientCall call{.peer = i % 2, .request_bytes = 64};
        ASSERT_EQ(events.Call(call), "");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(DriverConformanceTest, ServersOfAPeerTakeTurns) {
  if (!GetParam().has_channels) GTEST_SKIP() << "a peer is one server";
  std::atomic<int> calls[2] = {0, 0};
  const auto count = [](std::atomic<int>& counter) {
    return [&counter](Transport& transport, ServerCall* call) {
      ++counter;
      TestEvents::ReplyAsAsked(transport, call);
    };
  };
  const auto first = Serve(count(calls[0]));
  const auto second = Serve(count(calls[1]));
  for (const bool in_turn : {true, false}) {
    const std::vector<Peer> peers = {
        {.addresses = {first->address(), second->address()},
         .policy =
             in_turn ? config::kRoundRobinPolicy : config::kPickFirstPolicy}};
    TestClient client(MakeDriver(), peers);
    // gRPC takes a channel for connected once one of its servers is. With TLS
    // the others may follow a moment later.
    while (in_turn && (calls[0] == 0 || calls[1] == 0)) {
      ClientCall call{.request_bytes = 64};
      ASSERT_EQ(client.Call(call), "");
      ASSERT_LT(calls[0] + calls[1], 10'000) << "one server is never called";
    }
    calls[0] = calls[1] = 0;
    for (int i = 0; i < 10; ++i) {
      ClientCall call{.request_bytes = 64};
      ASSERT_EQ(client.Call(call), "");
    }
    EXPECT_EQ(calls[0], in_turn ? 5 : 10);
    EXPECT_EQ(calls[1], in_turn ? 5 : 0);
  }
}

TEST_P(DriverConformanceTest, CallsToAServerThatIsGoneFail) {
  auto server = Serve();
  const auto client = ConnectTo({server->address()});
  ClientCall call{.request_bytes = 16};
  ASSERT_EQ(client->Call(call), "");
  server.reset();
  call.done_ns = 0;
  EXPECT_THAT(client->Call(call), StartsWith("UNAVAILABLE: "));
  EXPECT_GT(call.done_ns, 0);
  EXPECT_EQ(call.responding_instance, kNoInstance);
}

TEST_P(DriverConformanceTest, DeadlinesEndCalls) {
  LateServer late;
  const auto server = Serve(late.handler());
  const auto client = ConnectTo({server->address()});
  ClientCall call{.request_bytes = 16,
                  .deadline_ns = base::NowNs() + 30'000'000};
  EXPECT_THAT(client->Call(call), StartsWith("DEADLINE_EXCEEDED: "));
  EXPECT_GE(call.done_ns, call.deadline_ns);
  EXPECT_LE(call.sent_ns, call.done_ns);
  LateServer::AnswerAll(*client);
}

// A worker reads for as long as it was late. On a busy machine that must
// suffice although others take the CPU meanwhile.
constexpr int64_t kLongStandstillNs = 20 * kStandstillNs;

// Starts calls, which the server answers before their deadline, and stands
// still until it has passed. Returns false if the machine was too slow for
// that.
bool StandStillOverAnswers(LateServer& late, TestClient& client,
                           TestClient& other, int64_t deadline_ns,
                           std::vector<ClientCall>& calls) {
  const int arrived_before = late.arrived();
  for (ClientCall& call : calls) {
    call = {
        .request_bytes = 16, .response_bytes = 300, .deadline_ns = deadline_ns};
    EXPECT_TRUE(client.transport().Start(&call));
  }
  EXPECT_TRUE(client.events().PollUntil([&] {
    return late.arrived() == arrived_before + static_cast<int>(calls.size()) ||
           base::NowNs() >= deadline_ns;
  }));
  // The second answer tells that those before it were sent.
  LateServer::AnswerAll(other);
  LateServer::AnswerAll(other);
  if (base::NowNs() >= deadline_ns) return false;
  while (base::NowNs() < deadline_ns + kLongStandstillNs) {
    std::this_thread::yield();
  }
  return true;
}

TEST_P(DriverConformanceTest, AnswersAreReadBeforeDeadlinesAreJudged) {
  if (!GetParam().judges_deadlines) GTEST_SKIP() << "its library judges them";
  LateServer late;
  const auto server = Serve(late.handler());
  const auto client = ConnectTo({server->address()});
  const auto other = ConnectTo({server->address()});
  std::list<std::vector<ClientCall>> attempts;
  const auto all_have_ended = [&] {
    return absl::c_all_of(attempts.back(), [&](const ClientCall& call) {
      return client->events().Finished(call);
    });
  };
  bool stood_still = false;
  for (int64_t patience_ns = 50'000'000; !stood_still; patience_ns *= 2) {
    ASSERT_LT(patience_ns, 30'000'000'000) << "the machine is too slow";
    std::vector<ClientCall>& calls = attempts.emplace_back(50);
    stood_still = StandStillOverAnswers(late, *client, *other,
                                        base::NowNs() + patience_ns, calls);
    ASSERT_TRUE(client->events().PollUntil(all_have_ended));
  }
  for (const ClientCall& call : attempts.back()) {
    ASSERT_EQ(client->events().error(call), "");
  }
}

TEST_P(DriverConformanceTest, LateRepliesAreDropped) {
  ServerCall* kept = nullptr;
  const auto server = Serve([&](Transport& transport, ServerCall* call) {
    if (kept != nullptr) TestEvents::ReplyAsAsked(transport, kept);
    kept = call->warmup ? call : nullptr;
    if (kept == nullptr) TestEvents::ReplyAsAsked(transport, call);
  });
  const auto client = ConnectTo({server->address()});
  ClientCall late{.warmup = true,
                  .request_bytes = 16,
                  .response_bytes = 100,
                  .deadline_ns = base::NowNs() + 30'000'000};
  EXPECT_THAT(client->Call(late), StartsWith("DEADLINE_EXCEEDED: "));
  // The late reply comes first, and must not be taken for another call's.
  ClientCall call{.request_bytes = 16, .response_bytes = 200};
  EXPECT_EQ(client->Call(call), "");
  EXPECT_EQ(call.received_bytes, 200);
}

TEST_P(DriverConformanceTest, CancelledCallsEnd) {
  LateServer late;
  const auto server = Serve(late.handler());
  const auto client = ConnectTo({server->address()});
  ClientCall calls[10];
  for (ClientCall& call : calls) {
    call.request_bytes = 16;
    ASSERT_TRUE(client->transport().Start(&call));
  }
  ASSERT_TRUE(client->events().PollUntil([&] { return late.arrived() == 10; }));
  client->transport().CancelCalls();
  ASSERT_TRUE(client->events().PollUntil(
      [&] { return client->events().finished_count() == 10; }));
  for (ClientCall& call : calls) {
    EXPECT_THAT(client->events().error(call), StartsWith("CANCELLED: "));
  }
  LateServer::AnswerAll(*client);
}

TEST_P(DriverConformanceTest, CallsMayBeCancelledBeforeTheyAreSent) {
  // Otherwise a busy machine may deliver the answer before the cancellation.
  LateServer late;
  const auto server = Serve(late.handler());
  const auto client = ConnectTo({server->address()});
  ClientCall call{.request_bytes = 16};
  ASSERT_TRUE(client->transport().Start(&call));
  client->transport().CancelCalls();
  ASSERT_TRUE(client->events().PollUntil(
      [&] { return client->events().Finished(call); }));
  EXPECT_THAT(client->events().error(call), StartsWith("CANCELLED: "));
  EXPECT_GT(call.sent_ns, 0);
  EXPECT_LE(call.sent_ns, call.done_ns);
  LateServer::AnswerAll(*client);
}

TEST_P(DriverConformanceTest, ConnectNamesThePeerThatIsNotThere) {
  const auto server = Serve();
  std::string closed_address;
  {
    const auto closed = MakeDriver();
    closed_address = closed->Listen(1).value();
  }
  const auto driver = MakeDriver();
  ASSERT_TRUE(driver->Listen(2).ok());
  const absl::Status status =
      driver->Connect(SingleServers({server->address(), closed_address}),
                      absl::Now() + absl::Milliseconds(500));
  EXPECT_THAT(
      std::string(status.message()),
      testing::AllOf(HasSubstr(DialledAddress(closed_address)),
                     Not(HasSubstr(DialledAddress(server->address())))));
}

TEST_P(DriverConformanceTest, ConnectNamesThePeerOfAnotherTest) {
  std::atomic<int> arrived = 0;
  const auto count = [&](Transport& transport, ServerCall* call) {
    ++arrived;
    TestEvents::ReplyAsAsked(transport, call);
  };
  const auto make = [](const std::string& nonce) -> DriverFactory {
    return [nonce] { return GetParam().make_for_test(nonce); };
  };
  const TestServer ours(make("ours"), count);
  const TestServer strangers(make("a stranger's"), count);
  {
    const auto driver = make("ours")();
    ASSERT_TRUE(driver->Listen(1).ok());
    const absl::Status status =
        driver->Connect(SingleServers({ours.address(), strangers.address()}),
                        absl::Now() + absl::Seconds(20));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(DialledAddress(strangers.address())));
  }
  // No peer was sent anything.
  EXPECT_EQ(arrived, 0);
  TestClient client(make("ours")(), SingleServers({ours.address()}));
  ClientCall call{.request_bytes = 16};
  EXPECT_EQ(client.Call(call), "");
  EXPECT_EQ(arrived, 1);
}

TEST_P(DriverConformanceTest, WakeEndsAPoll) {
  const auto client = ConnectTo({});
  std::thread waker([&] { client->transport().Wake(); });
  client->transport().Poll(INT64_MAX, client->events());
  waker.join();
}

TEST_P(DriverConformanceTest, PollDoesNotWaitBeyondItsDeadline) {
  const auto client = ConnectTo({});
  client->transport().Poll(0, client->events());
  for (const int64_t wait_ns : {20'000, 200'000, 5'000'000}) {
    const int64_t deadline_ns = base::NowNs() + wait_ns;
    while (base::NowNs() < deadline_ns) {
      client->transport().Poll(deadline_ns, client->events());
    }
  }
}

int64_t ServiceTimeNs(const ClientCall& call) {
  return call.done_ns - call.sent_ns;
}

// Answers requests that are not of the warm-up when one of the warm-up arrives,
// and keeps the times of the first one.
class SlowServer {
 public:
  // begins_late: the handlers begin only then, as after a wait for admission.
  explicit SlowServer(bool begins_late = false) : begins_late_(begins_late) {}

  struct Times {
    int64_t received_ns = 0;
    int64_t handled_ns = 0;
    int64_t replied_ns = 0;
  };

  TestEvents::Handler handler() {
    return [this](Transport& transport, ServerCall* call) {
      const absl::MutexLock lock(&mutex_);
      kept_.push_back(call);
      if (kept_.size() == 1) {
        times_.received_ns = call->received_ns;
        times_.handled_ns = base::NowNs();
      }
      ++arrived_;
      if (!call->warmup) return;
      times_.replied_ns = base::NowNs();
      for (ServerCall* kept : kept_) {
        if (begins_late_) kept->begun_ns = times_.replied_ns;
        TestEvents::ReplyAsAsked(transport, kept);
      }
      kept_.clear();
    };
  }

  int arrived() const {
    const absl::MutexLock lock(&mutex_);
    return arrived_;
  }
  Times times() const {
    const absl::MutexLock lock(&mutex_);
    return times_;
  }

 private:
  const bool begins_late_;
  mutable absl::Mutex mutex_;
  std::vector<ServerCall*> kept_;
  Times times_;
  int arrived_ = 0;
};

TEST_P(TimePartsConformanceTest, PartsAreTheServersAndFitTheServiceTime) {
  SlowServer slow;
  const auto server = Serve(slow.handler());
  const auto client = ConnectTo({server->address()});
  ClientCall call{.request_bytes = 16, .response_bytes = 100};
  ASSERT_TRUE(client->transport().Start(&call));
  ASSERT_TRUE(client->events().PollUntil([&] { return slow.arrived() == 1; }));
  ClientCall last{.warmup = true, .request_bytes = 16};
  ASSERT_EQ(client->Call(last), "");
  TestEvents& events = client->events();
  ASSERT_TRUE(events.PollUntil([&] { return events.Finished(call); }));
  const SlowServer::Times times = slow.times();
  // The handler ran from its call to the reply, at least.
  EXPECT_GE(call.server_handler_ns, times.replied_ns - times.handled_ns);
  EXPECT_GE(call.server_queue_ns, 0);
  // Nothing is counted twice.
  EXPECT_LE(call.server_queue_ns + call.server_handler_ns, ServiceTimeNs(call));
  EXPECT_LE(call.server_queue_ns, times.handled_ns - call.sent_ns);
  EXPECT_LE(call.server_handler_ns, call.done_ns - times.received_ns);
}

TEST_P(TimePartsConformanceTest, TheHandlerBeginsWhenTheEngineSaysSo) {
  SlowServer slow(/*begins_late=*/true);
  const auto server = Serve(slow.handler());
  const auto client = ConnectTo({server->address()});
  ClientCall call{.request_bytes = 16, .response_bytes = 100};
  ASSERT_TRUE(client->transport().Start(&call));
  ASSERT_TRUE(client->events().PollUntil([&] { return slow.arrived() == 1; }));
  ClientCall last{.warmup = true, .request_bytes = 16};
  ASSERT_EQ(client->Call(last), "");
  TestEvents& events = client->events();
  ASSERT_TRUE(events.PollUntil([&] { return events.Finished(call); }));
  const SlowServer::Times times = slow.times();
  EXPECT_GE(call.server_queue_ns, times.replied_ns - times.handled_ns);
  EXPECT_LE(call.server_handler_ns, call.done_ns - times.replied_ns);
}

TEST_P(TimePartsConformanceTest, PartsNeverExceedTheServiceTime) {
  const auto server = Serve();
  const auto client = ConnectTo({server->address()});
  for (int i = 0; i < 100; ++i) {
    ClientCall call{.request_bytes = 16, .response_bytes = 100};
    ASSERT_EQ(client->Call(call), "");
    ASSERT_GE(call.server_queue_ns, 0);
    ASSERT_GE(call.server_handler_ns, 0);
    ASSERT_LE(call.server_queue_ns + call.server_handler_ns,
              ServiceTimeNs(call));
  }
}

TEST_P(TimePartsConformanceTest, SizesStayExact) {
  const auto server = Serve();
  const auto client = ConnectTo({server->address()});
  for (int64_t size : {28, 29, 127, 128, 129, 140, 154, 155, 156, 157, 1000,
                       16384, 65536, 1 << 20}) {
    ClientCall call{.request_bytes = 16, .response_bytes = size};
    ASSERT_EQ(client->Call(call), "") << size;
    EXPECT_EQ(call.received_bytes, size);
  }
}

// Times need room, but a response that is too small for them still arrives.
TEST_P(TimePartsConformanceTest, SmallResponsesHaveTimesToo) {
  const auto server = Serve();
  const auto client = ConnectTo({server->address()});
  for (int64_t size : {0, 1, 2, 13, 16}) {
    ClientCall call{.request_bytes = 16, .response_bytes = size};
    ASSERT_EQ(client->Call(call), "") << size;
    EXPECT_LE(call.received_bytes, 28);
    EXPECT_GE(call.server_queue_ns, 0);
    EXPECT_GE(call.server_handler_ns, 0);
  }
}

TEST_P(TimePartsConformanceTest, ErrorsStillArrive) {
  const auto server = Serve([](Transport& transport, ServerCall* call) {
    call->reply_error = "enough";
    transport.Reply(call);
  });
  const auto client = ConnectTo({server->address()});
  ClientCall call{.request_bytes = 16};
  EXPECT_EQ(client->Call(call), "enough");
}

}  // namespace
}  // namespace distbench::protocol
