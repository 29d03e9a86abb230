#include "distbench/protocol/loopback/loopback_driver.h"

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "distbench/base/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// Answers every request with the size that it asks for, or keeps it.
class Peer final : public TransportEvents {
 public:
  explicit Peer(const Clock& clock) : driver(MakeLoopbackDriver(clock)) {
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
    call->reply_instance = call->server_instance;
    call->reply_error = reply_error;
    driver->transport(0).Reply(call);
  }

  std::unique_ptr<ProtocolDriver> driver;
  std::string address;
  std::string reply_error;
  bool keep_requests = false;
  std::vector<ServerCall*> kept;
  std::vector<ClientCall*> done;
  std::vector<std::string> errors;
};

class LoopbackDriverTest : public testing::Test {
 protected:
  LoopbackDriverTest()
      : client_(clock_), server_(std::make_unique<Peer>(clock_)) {
    EXPECT_TRUE(
        client_.driver->Connect({server_->address}, absl::InfiniteFuture())
            .ok());
    call_.server_instance = 3;
    call_.request_bytes = 100;
    call_.response_bytes = 200;
  }

  void Start() { ASSERT_TRUE(client_.driver->transport(0).Start(&call_)); }

  FakeClock clock_;
  Peer client_;
  std::unique_ptr<Peer> server_;
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

TEST_F(LoopbackDriverTest, CarriesTheServersError) {
  server_->reply_error = "no such RPC";
  Start();
  server_->Poll();
  client_.Poll();
  EXPECT_THAT(client_.errors, testing::ElementsAre("no such RPC"));
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
  const absl::Status status =
      client_.driver->Connect({"loopback:none"}, absl::InfiniteFuture());
  EXPECT_THAT(std::string(status.message()), HasSubstr("loopback:none"));
}

TEST(LoopbackTransportTest, WakeEndsAWait) {
  Peer peer(RealClock());
  peer.driver->transport(0).Wake();
  // Would never return.
  peer.driver->transport(0).Poll(std::numeric_limits<int64_t>::max(), peer);
}

}  // namespace
}  // namespace distbench
