// Tests of endpoints whose transmit queues are full.

#include <cstdint>
#include <memory>

#include "distbench/base/clock.h"
#include "distbench/products/libfabric/libfabric_driver.h"
#include "distbench/products/libfabric/testing/busy_provider.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::libfabric {
namespace {

class FullQueueTest : public testing::Test {
 protected:
  static std::unique_ptr<protocol::ProtocolDriver> MakeDriver() {
    return std::make_unique<LibfabricDriver>(ReadLibfabricSettings({}),
                                             protocol::AddressPreference{},
                                             "127.0.0.1", "nonce");
  }

  BusyProvider provider_;
};

// The sizes are sent by each of the functions that send.
TEST_F(FullQueueTest, RefusedRequestsAreSentAgain) {
  protocol::TestServer server(MakeDriver);
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  for (const int64_t size : {16, 400, 70'000, 3 << 20}) {
    protocol::ClientCall call{.request_bytes = size, .response_bytes = 16};
    BusyProvider::RefuseNext(3);
    ASSERT_EQ(client.Call(call), "") << size;
    EXPECT_EQ(BusyProvider::left(), 0);
    EXPECT_EQ(call.received_bytes, 16);
    // The time of the attempt that was accepted.
    EXPECT_GE(call.sent_ns, BusyProvider::refused_ns()) << size;
  }
}

TEST_F(FullQueueTest, RefusedRepliesAreSentAgain) {
  const auto reply = [](protocol::Transport& transport,
                        protocol::ServerCall* call) {
    BusyProvider::RefuseNext(3);
    protocol::TestEvents::ReplyAsAsked(transport, call);
  };
  protocol::TestServer server(MakeDriver, reply);
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  for (const int64_t size : {16, 400, 70'000, 3 << 20}) {
    protocol::ClientCall call{.request_bytes = 16, .response_bytes = size};
    ASSERT_EQ(client.Call(call), "") << size;
    EXPECT_EQ(BusyProvider::left(), 0);
    EXPECT_EQ(call.received_bytes, size);
  }
}

// Nothing else would wake the worker sooner than in a second.
TEST_F(FullQueueTest, SendsAreTriedAgainSoon) {
  protocol::TestServer server(MakeDriver);
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  protocol::ClientCall call{.request_bytes = 16, .response_bytes = 16};
  const int64_t begin_ns = base::RealClock().MonotonicNs();
  BusyProvider::RefuseNext(100);
  ASSERT_TRUE(client.transport().Start(&call));
  while (!client.events().Finished(call)) {
    client.transport().Poll(begin_ns + 60'000'000'000, client.events());
  }
  EXPECT_EQ(client.events().error(call), "");
  EXPECT_LT(base::RealClock().MonotonicNs() - begin_ns, 3'000'000'000);
}

TEST_F(FullQueueTest, RequestsKeepTheirOrder) {
  protocol::TestServer server(MakeDriver);
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  protocol::ClientCall calls[8];
  int64_t last_ns = 0;
  BusyProvider::RefuseNext(3);
  for (protocol::ClientCall& call : calls) {
    call = {.request_bytes = 16, .response_bytes = 16};
    ASSERT_TRUE(client.transport().Start(&call));
  }
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().finished_count() == 8; }));
  for (const protocol::ClientCall& call : calls) {
    EXPECT_EQ(client.events().error(call), "");
    EXPECT_GE(call.sent_ns, last_ns);
    last_ns = call.sent_ns;
  }
}

TEST_F(FullQueueTest, HellosAreSentAgain) {
  protocol::TestServer server(MakeDriver);
  BusyProvider::RefuseNext(10);
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  EXPECT_EQ(BusyProvider::left(), 0);
  protocol::ClientCall call{.request_bytes = 16, .response_bytes = 16};
  EXPECT_EQ(client.Call(call), "");
}

TEST_F(FullQueueTest, CallsEndWhileTheirRequestsWait) {
  protocol::TestServer server(MakeDriver);
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  protocol::ClientCall call{.request_bytes = 16, .response_bytes = 16};
  BusyProvider::RefuseNext(INT64_MAX);
  ASSERT_TRUE(client.transport().Start(&call));
  client.transport().CancelCalls();
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().Finished(call); }));
  EXPECT_NE(client.events().error(call), "");
  BusyProvider::RefuseNext(0);
  EXPECT_EQ(client.Call(call), "");
}

}  // namespace
}  // namespace distbench::libfabric
