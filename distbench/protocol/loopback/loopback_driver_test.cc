// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/loopback/loopback_driver.h"

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/base/testing/scarce_files.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/streams.h"
#include "distbench/protocol/testing/driver_conformance.h"
#include "distbench/protocol/testing/streaming_conformance.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

MATCHER_P2(Counts, name, value, "") {
  return arg.name == name && arg.value == value;
}

// Answers every request with the size that it asks for, or keeps it.
class Endpoint final : public TransportEvents {
 public:
  explicit Endpoint(const base::Clock& clock)
      : driver(MakeLoopbackDriver(clock)) {
    address = driver->Listen(1).value();
  }

  void Poll() { driver->transport(0).Poll(/*deadline_ns=*/0, *this); }

  void OnDone(ClientCall* call) override {
    done.push_back(call);
    errors.emplace_back(call->error);
  }

  void OnRequest(ServerCall* call) override {
    if (keep_requests) {
      kept.push_back(call);
      return;
    }
    Answer(call);
  }

  void Answer(ServerCall* call) {
    call->reply_bytes = call->response_bytes;
    call->reply_instance = number;
    call->reply_error = reply_error;
    driver->transport(0).Reply(call);
  }

  std::unique_ptr<ProtocolDriver> driver;
  std::string address;
  std::string reply_error;
  int number = 3;  // of the answering instance
  bool keep_requests = false;
  std::vector<ServerCall*> kept;
  std::vector<ClientCall*> done;
  std::vector<std::string> errors;
};

TEST(LoopbackListenTest, RunningOutOfDescriptorsIsAnError) {
  const std::unique_ptr<ProtocolDriver> driver = MakeLoopbackDriver();
  const base::ScarceFiles no_files;
  const absl::StatusOr<std::string> address = driver->Listen(1);
  EXPECT_EQ(address.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(address.status().ToString(), HasSubstr("ulimit -n"));
}

class LoopbackDriverTest : public testing::Test {
 protected:
  LoopbackDriverTest()
      : client_(clock_), server_(std::make_unique<Endpoint>(clock_)) {
    EXPECT_TRUE(
        client_.driver
            ->Connect(SingleServers({server_->address}), absl::InfiniteFuture())
            .ok());
    call_.server_instance = 3;
    call_.request_bytes = 100;
    call_.response_bytes = 200;
  }

  void Start() { ASSERT_TRUE(client_.driver->transport(0).Start(&call_)); }

  base::FakeClock clock_;
  Endpoint client_;
  std::unique_ptr<Endpoint> server_;
  ClientCall call_;
};

TEST_F(LoopbackDriverTest, CarriesACallAndItsReply) {
  Start();
  clock_.Advance(5);
  server_->Poll();
  clock_.Advance(7);
  client_.Poll();
  ASSERT_THAT(client_.done, SizeIs(1));
  EXPECT_EQ(client_.errors[0], "");
  EXPECT_EQ(call_.sent_bytes, 100);
  EXPECT_EQ(call_.received_bytes, 200);
  EXPECT_EQ(call_.responding_instance, 3);
  EXPECT_EQ(call_.done_ns - call_.sent_ns, 12);
}

// As of drivers that send messages: those with less than a header have its
// size. Here it is the RPC, the instance and the response's size: 6 bytes.
TEST_F(LoopbackDriverTest, NoMessageIsSmallerThanItsHeader) {
  call_.request_bytes = 1;
  call_.response_bytes = 1;
  server_->keep_requests = true;
  Start();
  server_->Poll();
  ASSERT_THAT(server_->kept, SizeIs(1));
  EXPECT_EQ(server_->kept[0]->request_bytes, 6);
  server_->Answer(server_->kept[0]);
  client_.Poll();
  ASSERT_THAT(client_.done, SizeIs(1));
  EXPECT_EQ(call_.sent_bytes, 6);
  EXPECT_EQ(call_.received_bytes, 2);  // the instance
}

TEST_F(LoopbackDriverTest, ATraceContextIsAPartOfTheHeader) {
  call_.request_bytes = 40;
  const std::string context(38, 'x');
  call_.trace_context = context;
  Start();
  EXPECT_EQ(call_.sent_bytes, 7 + 2 + 38);
}

// Only the first message of a stream has the trace context.
TEST_F(LoopbackDriverTest, NorIsAMessageOfAStream) {
  const std::string context(38, 'x');
  call_.trace_context = context;
  StreamTransport& streams = *client_.driver->transport(0).streams();
  streams.Open(&call_);
  EXPECT_EQ(streams.Write(call_, 1, /*last=*/false), 7 + 2 + 38);
  EXPECT_EQ(streams.Write(call_, 1, /*last=*/true), 7);
}

TEST_F(LoopbackDriverTest, CarriesTheServersError) {
  server_->reply_error = "no such RPC";
  Start();
  server_->Poll();
  client_.Poll();
  EXPECT_THAT(client_.errors, testing::ElementsAre("no such RPC"));
}

// If a server is slower than its clients' deadlines, the abandoned calls must
// not accumulate without limit.
TEST_F(LoopbackDriverTest, AbandonedCallsFillTheSendQueueUntilTheyAreAnswered) {
  constexpr int kBeyondAnyLimit = 10'000'000;
  Transport& transport = client_.driver->transport(0);
  clock_.Advance(1);
  call_.deadline_ns = clock_.MonotonicNs();
  int started = 0;
  while (started < kBeyondAnyLimit && transport.Start(&call_)) {
    ++started;
    client_.Poll();  // expires the call
  }
  ASSERT_LT(started, kBeyondAnyLimit);
  EXPECT_THAT(client_.done, SizeIs(started));
  server_->Poll();
  client_.Poll();
  EXPECT_TRUE(transport.Start(&call_));
}

// Otherwise nothing would show that there is more to poll for.
TEST_F(LoopbackDriverTest, LateRepliesAreNotDeliveredInsteadOfOthers) {
  constexpr int kMoreThanAPollDelivers = 1000;
  server_->keep_requests = true;
  Transport& transport = client_.driver->transport(0);
  for (int i = 0; i < kMoreThanAPollDelivers; ++i) Start();
  while (server_->kept.size() < kMoreThanAPollDelivers) server_->Poll();
  transport.CancelCalls();
  client_.Poll();
  client_.done.clear();
  for (ServerCall* request : server_->kept) server_->Answer(request);
  server_->keep_requests = false;
  Start();
  server_->Poll();
  client_.Poll();
  EXPECT_THAT(client_.done, SizeIs(1));
}

TEST_F(LoopbackDriverTest, CancelledCallsEndOnceAndLateRepliesAreDropped) {
  server_->keep_requests = true;
  Start();
  server_->Poll();
  client_.driver->transport(0).CancelCalls();
  client_.Poll();
  ASSERT_THAT(client_.errors, SizeIs(1));
  EXPECT_THAT(client_.errors[0], HasSubstr("CANCELLED"));
  server_->Answer(server_->kept.at(0));
  client_.Poll();
  EXPECT_THAT(client_.done, SizeIs(1));
}

TEST_F(LoopbackDriverTest, DeadlineEndsACall) {
  server_->keep_requests = true;
  call_.deadline_ns = clock_.MonotonicNs() + 10;
  Start();
  server_->Poll();
  clock_.Advance(9);
  client_.Poll();
  EXPECT_THAT(client_.done, SizeIs(0));
  clock_.Advance(1);
  client_.Poll();
  ASSERT_THAT(client_.errors, SizeIs(1));
  EXPECT_THAT(client_.errors[0], HasSubstr("DEADLINE_EXCEEDED"));
  server_->Answer(server_->kept.at(0));
}

TEST_F(LoopbackDriverTest, CountsRepliesThatNobodyAwaits) {
  server_->keep_requests = true;
  Start();
  server_->Poll();
  client_.driver->transport(0).Cancel(call_);
  client_.Poll();
  EXPECT_THAT(client_.driver->Counters(), IsEmpty());
  server_->Answer(server_->kept.at(0));
  client_.Poll();
  EXPECT_THAT(client_.driver->Counters(),
              ElementsAre(Counts("late_replies", 1)));
}

TEST_F(LoopbackDriverTest, AReplyToABrokenCallIsNotLate) {
  server_->keep_requests = true;
  Start();
  server_->Poll();
  EXPECT_EQ(server_->driver->transport(0).BreakConnections(), 1);
  client_.Poll();  // takes the notice
  client_.Poll();
  ASSERT_THAT(client_.errors, SizeIs(1));
  server_->Answer(server_->kept.at(0));
  client_.Poll();
  EXPECT_THAT(client_.driver->Counters(), IsEmpty());
  EXPECT_THAT(server_->driver->Counters(),
              ElementsAre(Counts("connections_lost_on_purpose", 1)));
}

TEST_F(LoopbackDriverTest, ARefusalOfACallThatWasGivenUpIsNotLate) {
  Start();
  client_.driver->transport(0).Cancel(call_);
  server_->driver->transport(0).BreakConnections();
  client_.Poll();
  EXPECT_THAT(client_.driver->Counters(), IsEmpty());
}

TEST_F(LoopbackDriverTest, ServerThatHasShutDownRefuses) {
  server_->driver->Shutdown();
  Start();
  client_.Poll();
  ASSERT_THAT(client_.errors, SizeIs(1));
  EXPECT_THAT(client_.errors[0], HasSubstr("UNAVAILABLE"));
}

TEST_F(LoopbackDriverTest, RequestsThatAServerHasNotSeenEndWithIt) {
  Start();
  server_.reset();
  client_.Poll();
  ASSERT_THAT(client_.errors, SizeIs(1));
  EXPECT_THAT(client_.errors[0], HasSubstr("UNAVAILABLE"));
}

TEST_F(LoopbackDriverTest, ClientMayGoBeforeTheReply) {
  server_->keep_requests = true;
  Start();
  server_->Poll();
  client_.driver.reset();
  server_->Answer(server_->kept.at(0));
}

TEST_F(LoopbackDriverTest, UnknownAddressIsAnError) {
  const absl::Status status = client_.driver->Connect(
      SingleServers({"loopback:none"}), absl::InfiniteFuture());
  EXPECT_THAT(std::string(status.message()), HasSubstr("loopback:none"));
}

// A client with one peer of three servers.
class LoopbackChannelTest : public testing::Test {
 protected:
  LoopbackChannelTest() {
    for (int i = 0; i < 3; ++i) {
      servers_.push_back(std::make_unique<Endpoint>(clock_));
      servers_.back()->number = i;
    }
  }

  void Connect(const char* policy) {
    Peer peer = {.addresses = {}, .policy = policy};
    for (const auto& server : servers_) {
      peer.addresses.push_back(server->address);
    }
    ASSERT_TRUE(client_.driver->Connect({peer}, absl::InfiniteFuture()).ok());
  }

  // Sends a call and returns the number of the answering server.
  int Call() {
    ClientCall call;
    call.server_instance = kAnyInstance;
    EXPECT_TRUE(client_.driver->transport(0).Start(&call));
    for (const auto& server : servers_) server->Poll();
    client_.Poll();
    return call.responding_instance;
  }

  base::FakeClock clock_;
  Endpoint client_{clock_};
  std::vector<std::unique_ptr<Endpoint>> servers_;
};

TEST_F(LoopbackChannelTest, RoundRobinTakesTurnsAndPassesOverTheDead) {
  Connect(config::kRoundRobinPolicy);
  EXPECT_EQ(Call(), 0);
  EXPECT_EQ(Call(), 1);
  EXPECT_EQ(Call(), 2);
  EXPECT_EQ(Call(), 0);
  servers_[1]->driver->Shutdown();
  EXPECT_EQ(Call(), 2);
  EXPECT_EQ(Call(), 2);
  EXPECT_EQ(Call(), 0);
}

TEST_F(LoopbackChannelTest, PickFirstStaysWithTheFirstThatLives) {
  Connect(config::kPickFirstPolicy);
  EXPECT_EQ(Call(), 0);
  EXPECT_EQ(Call(), 0);
  servers_[0]->driver->Shutdown();
  EXPECT_EQ(Call(), 1);
}

TEST_F(LoopbackChannelTest, NobodyHasAnsweredACallToServersThatAreGone) {
  Connect(config::kRoundRobinPolicy);
  for (const auto& server : servers_) server->driver->Shutdown();
  EXPECT_EQ(Call(), kNoInstance);
  EXPECT_THAT(client_.errors.at(0), HasSubstr("UNAVAILABLE"));
}

TEST(LoopbackTransportTest, WakeEndsAWait) {
  Endpoint peer(base::RealClock());
  peer.driver->transport(0).Wake();
  // Without a wake-up this would never return.
  peer.driver->transport(0).Poll(std::numeric_limits<int64_t>::max(), peer);
}

INSTANTIATE_TEST_SUITE_P(
    Loopback, DriverConformanceTest,
    testing::Values(DriverUnderTest{[](const std::string& test_nonce) {
      return MakeLoopbackDriver(base::RealClock(), test_nonce);
    }}));
INSTANTIATE_TEST_SUITE_P(
    Loopback, StreamingConformanceTest,
    testing::Values(DriverUnderTest{[](const std::string& test_nonce) {
      return MakeLoopbackDriver(base::RealClock(), test_nonce);
    }}));
INSTANTIATE_TEST_SUITE_P(
    Loopback, TimePartsConformanceTest,
    testing::Values(DriverUnderTest{[](const std::string& test_nonce) {
      return MakeLoopbackDriver(base::RealClock(), test_nonce,
                                /*measures_time_parts=*/true);
    }}));

}  // namespace
}  // namespace distbench::protocol
