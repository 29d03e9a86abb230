// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/decorators/decorators.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "distbench/protocol/decorators/testing/fake_driver.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class DoubleBarrelTest : public testing::Test {
 protected:
  DoubleBarrelTest() {
    auto inner = std::make_unique<FakeDriver>();
    inner_ = inner.get();
    driver_ = MakeDoubleBarrelDriver(std::move(inner));
    EXPECT_EQ(driver_->Listen(2).value(), "fake");
  }

  void Connect(const std::vector<std::string>& addresses) {
    ASSERT_TRUE(
        driver_->Connect(SingleServers(addresses), absl::InfiniteFuture())
            .ok());
  }

  // Starts calls to these peers.
  void Start(const std::vector<int>& peers, int worker = 0) {
    calls_.resize(peers.size());
    for (size_t i = 0; i < peers.size(); ++i) {
      calls_[i].peer = peers[i];
      ASSERT_TRUE(driver_->transport(worker).Start(&calls_[i]));
    }
  }

  FakeDriver* inner_;
  std::unique_ptr<ProtocolDriver> driver_;
  std::vector<ClientCall> calls_;
};

TEST_F(DoubleBarrelTest, ConnectsToEachPeerTwice) {
  Connect({"a", "b"});
  EXPECT_THAT(inner_->addresses, ElementsAre("a", "b", "a", "b"));
}

TEST_F(DoubleBarrelTest, UsesBothClientsInTurn) {
  Connect({"a"});
  Start({0, 0, 0});
  EXPECT_THAT(inner_->transports[0]->peers, ElementsAre(0, 1, 0));
}

TEST_F(DoubleBarrelTest, TakesTurnsPeerByPeerAndWorkerByWorker) {
  Connect({"a", "b"});
  // Alternating over all calls together would always give a peer the same
  // client.
  Start({0, 1, 0, 1, 0, 1});
  EXPECT_THAT(inner_->transports[0]->peers, ElementsAre(0, 1, 2, 3, 0, 1));
  Start({0, 0}, /*worker=*/1);
  EXPECT_THAT(inner_->transports[1]->peers, ElementsAre(0, 2));
}

TEST_F(DoubleBarrelTest, CallsComeBackAsTheyWere) {
  Connect({"a", "b", "c"});
  Start({2, 2, 1, 1});
  NotedEvents events;
  driver_->transport(0).Poll(0, events);
  EXPECT_THAT(events.done,
              ElementsAre(&calls_[0], &calls_[1], &calls_[2], &calls_[3]));
  EXPECT_THAT(events.peers, ElementsAre(2, 2, 1, 1));
}

TEST_F(DoubleBarrelTest, AFullQueueChangesNothing) {
  Connect({"a"});
  Start({0});
  inner_->transports[0]->is_full = true;
  ClientCall call{.peer = 0};
  EXPECT_FALSE(driver_->transport(0).Start(&call));
  EXPECT_EQ(call.peer, 0);
  inner_->transports[0]->is_full = false;
  EXPECT_TRUE(driver_->transport(0).Start(&call));
  EXPECT_THAT(inner_->transports[0]->peers, ElementsAre(0, 1));
}

TEST_F(DoubleBarrelTest, PassesTheRestOn) {
  ServerCall request;
  inner_->transports[1]->requests = {&request};
  NotedEvents events;
  Transport& transport = driver_->transport(1);
  transport.Poll(0, events);
  EXPECT_THAT(events.requests, ElementsAre(&request));
  transport.Reply(&request);
  EXPECT_THAT(inner_->transports[1]->replied, ElementsAre(&request));
  transport.Wake();
  EXPECT_EQ(inner_->transports[1]->wake_count, 1);
  transport.CancelCalls();
  EXPECT_EQ(inner_->transports[1]->cancel_count, 1);
  driver_->Shutdown();
  EXPECT_TRUE(inner_->is_shut_down);
  EXPECT_THAT(driver_->Counters(), SizeIs(1));
}

// A decorator must not change which thread does what: an RPC would then take
// longer only because it is counted, for example.
TEST(DecoratorTest, LendsTheTurnsThatTheWorkerLends) {
  for (const auto make : {MakeDoubleBarrelDriver, MakeRpcCounterDriver}) {
    auto owned = std::make_unique<FakeDriver>();
    FakeDriver& inner = *owned;
    const auto driver = make(std::move(owned));
    ASSERT_TRUE(driver->Listen(1).ok());
    NotedEvents events;
    driver->transport(0).Poll(0, events);
    TransportEvents& lent = *inner.transports[0]->lent;
    EXPECT_FALSE(lent.LendsTurns());
    events.lends_turns = true;
    EXPECT_TRUE(lent.LendsTurns());
    EXPECT_EQ(lent.EndBorrowedTurn(), NotedEvents::kNextDueNs);
    EXPECT_EQ(events.borrowed_turns, 1);
    driver->transport(0).RunTurnOrWake();
    EXPECT_EQ(inner.transports[0]->turn_count, 1);
    EXPECT_EQ(inner.transports[0]->wake_count, 0);
    EXPECT_EQ(driver->transport(0).grpc_queue(),
              inner.transports[0]->grpc_queue());
  }
}

std::map<std::string, int64_t> CountersOf(const ProtocolDriver& driver) {
  std::map<std::string, int64_t> counters;
  for (const DriverCounter& counter : driver.Counters()) {
    counters[counter.name] = counter.value;
  }
  return counters;
}

TEST(RpcCounterTest, CountsWhatGoesThroughAllWorkers) {
  auto owned = std::make_unique<FakeDriver>();
  FakeDriver& inner = *owned;
  const auto driver = MakeRpcCounterDriver(std::move(owned));
  ASSERT_EQ(driver->Listen(2).value(), "fake");
  NotedEvents events;
  ClientCall calls[4];
  ServerCall requests[3];

  // One worker sends three, of which two fail; the other sends one.
  ASSERT_TRUE(driver->transport(0).Start(&calls[0]));
  driver->transport(0).Poll(0, events);
  ASSERT_TRUE(driver->transport(0).Start(&calls[1]));
  ASSERT_TRUE(driver->transport(0).Start(&calls[2]));
  inner.transports[0]->error = "CANCELLED: enough";
  driver->transport(0).Poll(0, events);
  ASSERT_TRUE(driver->transport(1).Start(&calls[3]));
  inner.transports[1]->is_full = true;
  ClientCall held_back;
  EXPECT_FALSE(driver->transport(1).Start(&held_back));

  // Three arrive, and two of them are answered.
  inner.transports[0]->requests = {&requests[0]};
  inner.transports[1]->requests = {&requests[1], &requests[2]};
  driver->transport(0).Poll(0, events);
  driver->transport(1).Poll(0, events);
  driver->transport(0).Reply(&requests[0]);
  driver->transport(1).Reply(&requests[1]);

  driver->Shutdown();
  EXPECT_THAT(
      CountersOf(*driver),
      UnorderedElementsAre(Pair("rpcs_sent", 4), Pair("rpcs_answered", 2),
                           Pair("rpcs_failed", 2), Pair("requests_received", 3),
                           Pair("replies_sent", 2), Pair("fake_counter", 5)));
  EXPECT_EQ(events.done.size(), 4);
  EXPECT_EQ(events.requests.size(), 3);
}

TEST(RpcCounterTest, LeavesGivingUpAndBreakingToTheDriver) {
  auto owned = std::make_unique<FakeDriver>();
  FakeDriver& inner = *owned;
  const auto driver = MakeRpcCounterDriver(std::move(owned));
  ASSERT_TRUE(driver->Listen(1).ok());
  ClientCall call;
  ASSERT_TRUE(driver->transport(0).Start(&call));
  EXPECT_TRUE(driver->transport(0).Cancel(call));
  EXPECT_THAT(inner.transports[0]->cancelled, testing::ElementsAre(&call));
  EXPECT_EQ(driver->transport(0).BreakConnections(), 3);
}

}  // namespace
}  // namespace distbench::protocol
