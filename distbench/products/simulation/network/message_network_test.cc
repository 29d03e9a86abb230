#include "distbench/products/simulation/network/message_network.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "distbench/products/simulation/network/testing/arrival_log.h"
#include "distbench/products/simulation/network/testing/hand_made_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

// 1 byte per ns, 1 us per link.
constexpr LinkModel kByteLink = {.bytes_per_ns = 1, .delay_ns = 1000};

class MessageNetworkTest : public testing::Test {
 protected:
  explicit MessageNetworkTest(ClusterModel model = SingleSwitchModel(4,
                                                                     kByteLink))
      : model_(std::move(model)) {
    for (int host = 0; host < model_.host_count; ++host) {
      logs_.emplace_back(simulator_, host);
    }
  }

  void Send(int from, int to, int64_t bytes, int64_t value) {
    network_->Send({.from_host = from,
                    .to_host = to,
                    .bytes = bytes,
                    .connection = static_cast<uint64_t>(10 * from + to),
                    .receiver = &logs_[to],
                    .arrival = {.value = value}});
  }

  const ClusterModel model_;
  Simulator simulator_{OptionsFor(model_, 1)};
  std::unique_ptr<SimulatedNetwork> network_ =
      MakeSimulatedNetwork(model_, simulator_);
  std::deque<ArrivalLog> logs_;
};

using Entry = ArrivalLog::Entry;
using testing::ElementsAre;

TEST_F(MessageNetworkTest, AnIdleNetworkCostsTransmissionOnceAndBothDelays) {
  Send(0, 1, 500, 1);
  Send(2, 3, 0, 2);
  RunToTheEnd(simulator_);
  EXPECT_THAT(logs_[1].entries, ElementsAre(Entry{2500, 1}));
  EXPECT_THAT(logs_[3].entries, ElementsAre(Entry{2000, 2}));
  EXPECT_EQ(simulator_.event_count(), 2);
}

TEST_F(MessageNetworkTest, MessagesOfASenderWaitForEachOther) {
  Send(0, 1, 500, 1);
  Send(0, 2, 300, 2);
  Send(0, 1, 100, 3);
  RunToTheEnd(simulator_);
  EXPECT_THAT(logs_[1].entries, ElementsAre(Entry{2500, 1}, Entry{2900, 3}));
  EXPECT_THAT(logs_[2].entries, ElementsAre(Entry{2800, 2}));
}

TEST_F(MessageNetworkTest, MessagesToAReceiverWaitForEachOther) {
  Send(0, 3, 500, 1);
  Send(1, 3, 600, 2);
  Send(2, 3, 700, 3);
  RunToTheEnd(simulator_);
  // One after the other: 500, 600 and 700 ns after the first byte.
  EXPECT_THAT(logs_[3].entries,
              ElementsAre(Entry{2500, 1}, Entry{3100, 2}, Entry{3800, 3}));
  EXPECT_EQ(simulator_.event_count(), 5);
}

TEST_F(MessageNetworkTest, OneThatWaitedArrivesBeforeItsSuccessorOfThatTime) {
  Send(3, 0, 500, 1);
  Send(1, 0, 500, 2);  // waits until 3000
  Send(1, 0, 500, 3);  // its last byte is there at 3000; waits until 3500
  Send(1, 0, 0, 4);
  RunToTheEnd(simulator_);
  EXPECT_THAT(logs_[0].entries, ElementsAre(Entry{2500, 2}, Entry{3000, 1},
                                            Entry{3500, 3}, Entry{3500, 4}));
}

// Fractions of nanoseconds do not get lost: 3 bytes/ns, 1000 messages of 100.
TEST(MessageNetworkRateTest, IsExact) {
  const ClusterModel model =
      SingleSwitchModel(2, {.bytes_per_ns = 3, .delay_ns = 1000});
  Simulator simulator(OptionsFor(model, 1));
  MessageNetwork network(model, simulator);
  ArrivalLog log(simulator, 1);
  for (int i = 0; i < 1000; ++i) {
    network.Send({.from_host = 0,
                  .to_host = 1,
                  .bytes = 100,
                  .receiver = &log,
                  .arrival = {.value = i}});
  }
  RunToTheEnd(simulator);
  EXPECT_NEAR(log.entries.back().time_ns, 2000 + 100'000 / 3, 2);
}

// A slow receiver's link decides, whichever link it is.
TEST(MessageNetworkRateTest, IsThatOfTheSlowerLink) {
  ClusterModel model = SingleSwitchModel(2, kByteLink);
  model.links[3].bytes_per_ns = 0.25;
  Simulator simulator(OptionsFor(model, 1));
  MessageNetwork network(model, simulator);
  ArrivalLog log0(simulator, 0);
  ArrivalLog log1(simulator, 1);
  network.Send({.from_host = 0,
                .to_host = 1,
                .bytes = 1000,
                .receiver = &log1,
                .arrival = {}});
  network.Send({.from_host = 1,
                .to_host = 0,
                .bytes = 1000,
                .receiver = &log0,
                .arrival = {}});
  RunToTheEnd(simulator);
  EXPECT_EQ(log1.entries.front().time_ns, 2000 + 4000);
  EXPECT_EQ(log0.entries.front().time_ns, 2000 + 1000);
}

// Messages of a connection overtake each other neither at equal times nor with
// sizes of zero, and nothing arrives faster than its link allows.
TEST(MessageNetworkOrderTest, RandomMessagesArriveOnceInOrderAtTheRate) {
  constexpr int kHosts = 6;
  const ClusterModel model = LeafSpineModel(2, 3, 2, kByteLink, kByteLink);
  Simulator simulator(OptionsFor(model, 1));
  MessageNetwork network(model, simulator);
  std::deque<ArrivalLog> logs;
  for (int host = 0; host < kHosts; ++host) logs.emplace_back(simulator, host);
  std::mt19937 random(1);
  std::vector<int64_t> bytes_to(kHosts, 0);
  std::vector<int> sent(kHosts * kHosts, 0);
  for (int i = 0; i < 5000; ++i) {
    const int from = static_cast<int>(random() % kHosts);
    const int to = (from + 1 + static_cast<int>(random() % (kHosts - 1))) % 6;
    const int64_t bytes = random() % 4 * 500;
    const int pair = from * kHosts + to;
    network.Send({.from_host = from,
                  .to_host = to,
                  .bytes = bytes,
                  .connection = static_cast<uint64_t>(pair),
                  .receiver = &logs[to],
                  .arrival = {.value = pair * 10'000 + sent[pair]++}});
    bytes_to[to] += bytes;
  }
  RunToTheEnd(simulator);
  std::vector<int> received(kHosts * kHosts, 0);
  for (const ArrivalLog& log : logs) {
    for (const Entry& entry : log.entries) {
      const int64_t pair = entry.value / 10'000;
      EXPECT_EQ(entry.value % 10'000, received[pair]++) << pair;
    }
    EXPECT_GE(log.entries.back().time_ns, 2000 + bytes_to[log.host]);
  }
  EXPECT_EQ(received, sent);
}

}  // namespace
}  // namespace distbench::simulation
