#include "distbench/protocol/decorators/rpc_counter.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "distbench/protocol/decorators/testing/fake_driver.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

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
