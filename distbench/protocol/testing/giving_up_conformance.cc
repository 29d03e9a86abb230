// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The part of the suite about calls that are given up, and about connections
// that end.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "distbench/protocol/testing/driver_conformance.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "gmock/gmock.h"

namespace distbench::protocol {

// Not all drivers have the setting.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CallsPerConnectionTest);

namespace {

using ::testing::StartsWith;

// Starts calls of different sizes.
void StartAll(TestClient& client, std::vector<ClientCall>& calls) {
  for (size_t i = 0; i < calls.size(); ++i) {
    calls[i].request_bytes = 16;
    calls[i].response_bytes = 100 + static_cast<int64_t>(i);
    ASSERT_TRUE(client.transport().Start(&calls[i]));
  }
}

// Starts them, and waits until the server has them.
void StartAllAt(LateServer& late, TestClient& client,
                std::vector<ClientCall>& calls) {
  StartAll(client, calls);
  const int wanted = static_cast<int>(calls.size());
  ASSERT_TRUE(
      client.events().PollUntil([&] { return late.arrived() == wanted; }));
}

TEST_P(DriverConformanceTest, OneCallOfManyIsGivenUp) {
  LateServer late;
  const auto server = Serve(late.handler());
  const auto client = ConnectTo({server->address()});
  std::vector<ClientCall> calls(5);
  StartAllAt(late, *client, calls);
  ASSERT_TRUE(client->transport().Cancel(calls[2]));
  EXPECT_FALSE(client->events().Finished(calls[2])) << "ends in Poll() only";
  ASSERT_TRUE(client->events().PollUntil(
      [&] { return client->events().Finished(calls[2]); }));
  EXPECT_THAT(client->events().error(calls[2]), StartsWith("CANCELLED: "));
  EXPECT_EQ(client->events().finished_count(), 1);
  EXPECT_EQ(calls[2].responding_instance, kNoInstance);
  EXPECT_GT(calls[2].sent_ns, 0);
  EXPECT_LE(calls[2].sent_ns, calls[2].done_ns);
  LateServer::AnswerAll(*client);
  ASSERT_TRUE(client->events().PollUntil(
      [&] { return client->events().finished_count() == 6; }));
  for (const size_t other : {0, 1, 3, 4}) {
    EXPECT_EQ(client->events().error(calls[other]), "");
    EXPECT_EQ(calls[other].received_bytes, calls[other].response_bytes);
  }
}

TEST_P(DriverConformanceTest, ACallIsGivenUpWhileItWaitsToBeSent) {
  LateServer late;
  // The call that is given up may arrive, too, and before the others.
  std::atomic<int> others_arrived = 0;
  const auto server =
      Serve([&, keep = late.handler()](Transport& transport, ServerCall* call) {
        if (call->rpc_index == 0) ++others_arrived;
        keep(transport, call);
      });
  const auto client = ConnectTo({server->address()});
  std::vector<ClientCall> calls(3);
  calls[1].rpc_index = 1;
  StartAll(*client, calls);
  ASSERT_TRUE(client->transport().Cancel(calls[1]));
  ASSERT_TRUE(client->events().PollUntil(
      [&] { return client->events().Finished(calls[1]); }));
  EXPECT_THAT(client->events().error(calls[1]), StartsWith("CANCELLED: "));
  EXPECT_GT(calls[1].sent_ns, 0);
  EXPECT_LE(calls[1].sent_ns, calls[1].done_ns);
  ASSERT_TRUE(client->events().PollUntil([&] { return others_arrived == 2; }));
  LateServer::AnswerAll(*client);
  ASSERT_TRUE(client->events().PollUntil(
      [&] { return client->events().finished_count() == 4; }));
  EXPECT_EQ(client->events().error(calls[0]), "");
  EXPECT_EQ(client->events().error(calls[2]), "");
}

TEST_P(DriverConformanceTest, ACallThatIsGivenUpTwiceEndsOnce) {
  LateServer late;
  const auto server = Serve(late.handler());
  const auto client = ConnectTo({server->address()});
  std::vector<ClientCall> calls(2);
  int ends = 0;
  client->events().on_done = [&](ClientCall* call) {
    ++ends;
    // It has ended: nothing more may come of it.
    EXPECT_TRUE(client->transport().Cancel(*call));
  };
  StartAllAt(late, *client, calls);
  ASSERT_TRUE(client->transport().Cancel(calls[0]));
  ASSERT_TRUE(client->transport().Cancel(calls[0]));
  ASSERT_TRUE(client->transport().Cancel(calls[1]));
  client->transport().CancelCalls();
  ASSERT_TRUE(client->events().PollUntil([&] { return ends == 2; }));
  LateServer::AnswerAll(*client);
  EXPECT_EQ(ends, 3);
}

TEST_P(DriverConformanceTest, TheEndOfOneCallMayGiveUpAnother) {
  LateServer late;
  const auto server = Serve(late.handler());
  const auto client = ConnectTo({server->address()});
  std::vector<ClientCall> calls(3);
  int ends = 0;
  client->events().on_done = [&](ClientCall* call) {
    ++ends;
    for (ClientCall& other : calls) {
      const bool is_open = !client->events().Finished(other);
      if (call == &calls[0] && is_open) {
        EXPECT_TRUE(client->transport().Cancel(other));
      }
    }
  };
  StartAllAt(late, *client, calls);
  ASSERT_TRUE(client->transport().Cancel(calls[0]));
  ASSERT_TRUE(client->events().PollUntil([&] { return ends == 3; }));
  for (const ClientCall& call : calls) {
    EXPECT_THAT(client->events().error(call), StartsWith("CANCELLED: "));
  }
  LateServer::AnswerAll(*client);
  EXPECT_EQ(ends, 4);
}

// The winner of a hedged request gives up the other, whose reply may be in the
// same read.
TEST_P(DriverConformanceTest, AReplyMayGiveUpACallWhoseReplyIsThereToo) {
  LateServer late;
  const auto server = Serve(late.handler());
  const auto client = ConnectTo({server->address()});
  std::vector<ClientCall> calls(2);
  StartAllAt(late, *client, calls);
  int ends = 0;
  client->events().on_done = [&](ClientCall* call) {
    for (ClientCall& other : calls) {
      if (&other == call) continue;
      EXPECT_TRUE(client->transport().Cancel(other));
    }
    ++ends;
  };
  LateServer::AnswerAll(*client);
  ASSERT_TRUE(client->events().PollUntil([&] { return ends == 3; }));
  ClientCall next{.warmup = true, .request_bytes = 16, .response_bytes = 33};
  EXPECT_EQ(client->Call(next), "");
  EXPECT_EQ(ends, 4);
}

TEST_P(DriverConformanceTest, ALateReplyIsNotTakenForTheNextUseOfTheCall) {
  LateServer late;
  const auto server = Serve(late.handler());
  const auto client = ConnectTo({server->address()});
  std::vector<ClientCall> calls(1);
  StartAllAt(late, *client, calls);
  ClientCall& call = calls[0];
  ASSERT_TRUE(client->transport().Cancel(call));
  ASSERT_TRUE(client->events().PollUntil(
      [&] { return client->events().Finished(call); }));
  // The server answers both, the first one first.
  call.warmup = true;
  call.response_bytes = 2000;
  EXPECT_EQ(client->Call(call), "");
  EXPECT_EQ(call.received_bytes, 2000);
}

// A server that keeps its requests until they are lost: one of the warm-up
// makes it break its connections, and the next request makes it answer them.
class BreakingServer {
 public:
  TestEvents::Handler handler() {
    return [this](Transport& transport, ServerCall* call) {
      if (broken_ != 0) {
        for (ServerCall* kept : kept_) {
          TestEvents::ReplyAsAsked(transport, kept);
        }
        kept_.clear();
        return TestEvents::ReplyAsAsked(transport, call);
      }
      kept_.push_back(call);
      ++arrived_;
      if (!call->warmup) return;
      const int64_t broken = transport.BreakConnections();
      broken_again_ = transport.BreakConnections();
      broken_ = broken;
    };
  }

  // Any thread may call these. How many connections were broken; -1: the driver
  // cannot. Then, how many more in the same turn.
  int64_t broken() const { return broken_; }
  int64_t broken_again() const { return broken_again_; }
  int arrived() const { return arrived_; }

 private:
  std::vector<ServerCall*> kept_;
  std::atomic<int64_t> broken_ = 0;
  std::atomic<int64_t> broken_again_ = 0;
  std::atomic<int> arrived_ = 0;
};

// Starts calls, the last of which makes the server break its connections.
// Returns whether it can.
bool StartAndBreak(BreakingServer& breaking, TestClient& client,
                   std::vector<ClientCall>& calls) {
  const int before = static_cast<int>(calls.size()) - 1;
  for (ClientCall& call : calls) {
    call.request_bytes = 16;
    call.response_bytes = 16;
    call.warmup = &call == &calls.back();
    const bool is_last = call.warmup;
    if (is_last) {
      EXPECT_TRUE(client.events().PollUntil(
          [&] { return breaking.arrived() == before; }));
    }
    EXPECT_TRUE(client.transport().Start(&call));
  }
  EXPECT_TRUE(
      client.events().PollUntil([&] { return breaking.broken() != 0; }));
  return breaking.broken() > 0;
}

TEST_P(DriverConformanceTest, BrokenConnectionsFailTheirCallsAndAreMadeAgain) {
  BreakingServer breaking;
  const auto server = Serve(breaking.handler());
  const auto client = ConnectTo({server->address()});
  std::vector<ClientCall> calls(6);
  if (StartAndBreak(breaking, *client, calls)) {
    EXPECT_EQ(breaking.broken_again(), 0) << "they are broken already";
    ASSERT_TRUE(client->events().PollUntil(
        [&] { return client->events().finished_count() == calls.size(); }));
    for (const ClientCall& call : calls) {
      EXPECT_THAT(client->events().error(call), StartsWith("UNAVAILABLE: "));
      EXPECT_EQ(call.responding_instance, kNoInstance);
    }
  }
  for (int i = 0; i < 10; ++i) {
    ClientCall next{.request_bytes = 16, .response_bytes = 77};
    EXPECT_EQ(client->Call(next), "") << i;
    EXPECT_EQ(next.received_bytes, 77);
  }
}

TEST_P(CallsPerConnectionTest, CallsInFlightHaveAConnectionEach) {
  BreakingServer breaking;
  const auto server = Serve(breaking.handler());
  const auto client = ConnectTo({server->address()});
  std::vector<ClientCall> calls(4);
  const bool breaks = StartAndBreak(breaking, *client, calls);
  ClientCall last{.request_bytes = 16};
  EXPECT_EQ(client->Call(last), "");
  if (!breaks) GTEST_SKIP() << "this driver cannot count connections";
  EXPECT_EQ(breaking.broken(), 4);
}

TEST_P(CallsPerConnectionTest, ConnectingBelongsToTheCallAndConnectionsClose) {
  const auto server = Serve();
  const auto client = ConnectTo({server->address()});
  for (int i = 0; i < 20; ++i) {
    ClientCall call{.request_bytes = 100, .response_bytes = 50 + i};
    ASSERT_EQ(client->Call(call), "");
    EXPECT_EQ(call.received_bytes, 50 + i);
    EXPECT_LE(call.sent_ns, call.done_ns);
  }
  // The last connection closes at its end, and nothing fails for it.
  client->Shutdown();
  int64_t renewed = 0;
  for (const DriverCounter& counter : client->driver().Counters()) {
    EXPECT_FALSE(counter.name.starts_with("connections_lost_")) << counter.name;
    if (counter.name == "renewed_connections") renewed = counter.value;
  }
  EXPECT_GE(renewed, 19);
}

TEST_P(CallsPerConnectionTest, ConnectionsOfCallsThatAreGivenUpClose) {
  LateServer late;
  const auto server = Serve(late.handler());
  const auto client = ConnectTo({server->address()});
  std::vector<ClientCall> calls(3);
  StartAllAt(late, *client, calls);
  for (ClientCall& call : calls) client->transport().Cancel(call);
  ASSERT_TRUE(client->events().PollUntil(
      [&] { return client->events().finished_count() == 3; }));
  LateServer::AnswerAll(*client);
}

TEST_P(CallsPerConnectionTest, AServerThatIsGoneFailsEachCall) {
  auto server = Serve();
  const auto client = ConnectTo({server->address()});
  server.reset();
  for (int i = 0; i < 3; ++i) {
    ClientCall call{.request_bytes = 16};
    EXPECT_THAT(client->Call(call), StartsWith("UNAVAILABLE: "));
  }
}

}  // namespace
}  // namespace distbench::protocol
