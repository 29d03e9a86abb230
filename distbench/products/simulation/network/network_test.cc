// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/network/network.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

// 1 byte per ns, 1 us per link.
constexpr char kByteLink[] = "host_link { gbps: 8 delay_ns: 1000 }";

ClusterModel ModelOf(const std::string& text, int hosts) {
  SimulatedFabric fabric;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &fabric));
  const auto model = MakeClusterModel(fabric, hosts, /*seed=*/1);
  EXPECT_EQ(model.status(), absl::OkStatus());
  return *model;
}

ClusterModel SwitchOf(int hosts, const std::string& link = kByteLink) {
  return ModelOf(absl::StrCat("single_switch { ", link, " }"), hosts);
}

SimulatorOptions OptionsFor(const ClusterModel& model) {
  return {.nodes = model.host_count,
          .lookahead_ns = SimulatedNetwork::LookaheadNs(model)};
}

void RunToTheEnd(Simulator& simulator) {
  simulator.Run(std::numeric_limits<int64_t>::max(), [] { return false; });
}

// Keeps messages until the end.
class Mail {
 public:
  explicit Mail(SimulatedNetwork& network) : network_(network) {}
  void Send(const SimulatedMessage& message) {
    network_.Send(messages_.emplace_back(message));
  }

 private:
  SimulatedNetwork& network_;
  std::deque<SimulatedMessage> messages_;
};

// Notes what arrives at a host.
struct ArrivalLog : SimulatedEventHandler {
  struct Entry {
    int64_t time_ns;
    int64_t value;
    bool operator==(const Entry&) const = default;
  };

  ArrivalLog(const Simulator& simulator, int host)
      : simulator(simulator), host(host) {}
  void OnEvent(const SimulatedEvent& event) override {
    entries.push_back({simulator.now_ns(host), event.value});
  }

  const Simulator& simulator;
  const int host;
  std::vector<Entry> entries;
};

TEST(LinkTimelineTest, FractionsCarryOverWithoutAPause) {
  LinkTimeline link(3);
  EXPECT_EQ(link.Transmit(0, 1), 0);
  EXPECT_EQ(link.Transmit(0, 1), 0);
  EXPECT_EQ(link.Transmit(0, 2), 1);
  EXPECT_EQ(link.Transmit(10, 3), 11);
}

TEST(LinkTimelineTest, WhatTakesTooLongDoesNotOverflow) {
  LinkTimeline link(1e-30);
  int64_t last_ns = 0;
  for (int i = 0; i < 20; ++i) {
    const int64_t earliest_ns = last_ns + 1000;
    const int64_t sent_ns = link.Transmit(earliest_ns, 64);
    EXPECT_GE(sent_ns, earliest_ns);
    EXPECT_LT(sent_ns, 3'000'000'000'000'000'000);
    last_ns = sent_ns;
  }
}

class NetworkTest : public testing::Test {
 protected:
  NetworkTest() {
    for (int host = 0; host < model_.host_count; ++host) {
      logs_.emplace_back(simulator_, host);
    }
  }

  void Send(int from, int to, int64_t bytes, int64_t value) {
    mail_.Send({.from_host = from,
                .to_host = to,
                .bytes = bytes,
                .connection = static_cast<uint64_t>(10 * from + to),
                .receiver = &logs_[to],
                .arrival = {.value = value}});
  }

  const ClusterModel model_ = SwitchOf(4);
  Simulator simulator_{OptionsFor(model_)};
  SimulatedNetwork network_{model_, simulator_};
  Mail mail_{network_};
  std::deque<ArrivalLog> logs_;
};

using Entry = ArrivalLog::Entry;
using testing::ElementsAre;

TEST_F(NetworkTest, AnIdleNetworkCostsTransmissionOnceAndBothDelays) {
  Send(0, 1, 500, 1);
  Send(2, 3, 0, 2);
  RunToTheEnd(simulator_);
  EXPECT_THAT(logs_[1].entries, ElementsAre(Entry{2500, 1}));
  EXPECT_THAT(logs_[3].entries, ElementsAre(Entry{2000, 2}));
  EXPECT_EQ(simulator_.event_count(), 2);
}

TEST_F(NetworkTest, MessagesOfASenderWaitForEachOther) {
  Send(0, 1, 500, 1);
  Send(0, 2, 300, 2);
  Send(0, 1, 100, 3);
  RunToTheEnd(simulator_);
  EXPECT_THAT(logs_[1].entries, ElementsAre(Entry{2500, 1}, Entry{2900, 3}));
  EXPECT_THAT(logs_[2].entries, ElementsAre(Entry{2800, 2}));
}

TEST_F(NetworkTest, MessagesToAReceiverWaitForEachOther) {
  Send(0, 3, 500, 1);
  Send(1, 3, 600, 2);
  Send(2, 3, 700, 3);
  RunToTheEnd(simulator_);
  // One after the other: 500, 600 and 700 ns after the first byte.
  EXPECT_THAT(logs_[3].entries,
              ElementsAre(Entry{2500, 1}, Entry{3100, 2}, Entry{3800, 3}));
  EXPECT_EQ(simulator_.event_count(), 5);
}

TEST_F(NetworkTest, OneThatWaitedArrivesBeforeItsSuccessorOfThatTime) {
  Send(3, 0, 500, 1);
  Send(1, 0, 500, 2);  // waits until 3000
  Send(1, 0, 500, 3);  // its last byte is there at 3000; waits until 3500
  Send(1, 0, 0, 4);
  RunToTheEnd(simulator_);
  EXPECT_THAT(logs_[0].entries, ElementsAre(Entry{2500, 2}, Entry{3000, 1},
                                            Entry{3500, 3}, Entry{3500, 4}));
}

// The event of the one that need not wait would run first.
TEST_F(NetworkTest, OneThatWaitedArrivesBeforeOneThatNeedNotWait) {
  Send(0, 3, 500, 1);
  Send(1, 3, 500, 2);  // waits until 3000
  Send(1, 2, 500, 3);
  Send(1, 3, 0, 4);  // its last byte is there at 3000
  RunToTheEnd(simulator_);
  EXPECT_THAT(logs_[3].entries,
              ElementsAre(Entry{2500, 1}, Entry{3000, 2}, Entry{3000, 4}));
}

// Fractions of nanoseconds do not get lost: 3 bytes/ns, 1000 messages of 100.
TEST(NetworkRateTest, IsExact) {
  const ClusterModel model =
      SwitchOf(2, "host_link { gbps: 24 delay_ns: 1000 }");
  Simulator simulator(OptionsFor(model));
  SimulatedNetwork network(model, simulator);
  Mail mail(network);
  ArrivalLog log(simulator, 1);
  for (int i = 0; i < 1000; ++i) {
    mail.Send({.from_host = 0,
               .to_host = 1,
               .bytes = 100,
               .receiver = &log,
               .arrival = {.value = i}});
  }
  RunToTheEnd(simulator);
  EXPECT_NEAR(log.entries.back().time_ns, 2000 + 100'000 / 3, 2);
}

// The slower link decides, whether it is the sender's or the receiver's.
TEST(NetworkRateTest, IsThatOfTheSlowerLink) {
  const ClusterModel model = ModelOf(
      "graph { switches { name: 's' hosts: 'fast'"
      "                   host_link { gbps: 8 delay_ns: 1000 } }"
      "        switches { name: 't' hosts: 'slow'"
      "                   host_link { gbps: 2 delay_ns: 2000 } }"
      "        links { from: 's' to: 't' link { delay_ns: 5 } } }",
      2);
  EXPECT_EQ(SimulatedNetwork::LookaheadNs(model), 2000);
  Simulator simulator(OptionsFor(model));
  SimulatedNetwork network(model, simulator);
  Mail mail(network);
  ArrivalLog log0(simulator, 0);
  ArrivalLog log1(simulator, 1);
  mail.Send({.from_host = 0, .to_host = 1, .bytes = 1000, .receiver = &log1});
  mail.Send({.from_host = 1, .to_host = 0, .bytes = 1000, .receiver = &log0});
  RunToTheEnd(simulator);
  EXPECT_EQ(log1.entries.front().time_ns, 3005 + 4000);
  EXPECT_EQ(log0.entries.front().time_ns, 3005 + 4000);
}

// Messages of a connection overtake each other neither at equal times nor with
// sizes of zero, and nothing arrives faster than its link allows.
TEST(NetworkOrderTest, RandomMessagesArriveOnceInOrderAtTheRate) {
  constexpr int kHosts = 6;
  const ClusterModel model = ModelOf(
      absl::StrCat("leaf_spine { hosts_per_leaf: 3 spines: 2 ", kByteLink,
                   " spine_link { gbps: 8 delay_ns: 1000 } }"),
      kHosts);
  Simulator simulator(OptionsFor(model));
  SimulatedNetwork network(model, simulator);
  Mail mail(network);
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
    mail.Send({.from_host = from,
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

// N servers send a block to one client, all at once, again and again. The
// client's link is the only queue, and never idle until the last byte: a round
// takes N blocks at its rate, and the way there and back. So goodput is that of
// the link, however many servers there are: nothing is lost, and nothing
// collapses as it does with packets and timeouts.
class Incast : public SimulatedEventHandler {
 public:
  Incast(int servers, int64_t block_bytes)
      : servers_(servers),
        block_bytes_(block_bytes),
        model_(SwitchOf(servers + 1)) {}

  // Returns how long the rounds take.
  int64_t Run(int rounds) {
    rounds_left_ = rounds;
    StartRound();
    RunToTheEnd(simulator_);
    return ended_ns_;
  }

 private:
  void StartRound() {
    missing_ = servers_;
    for (int server = 1; server <= servers_; ++server) Send(0, server, 0);
  }

  void Send(int from, int to, int64_t bytes) {
    mail_.Send({.from_host = from,
                .to_host = to,
                .bytes = bytes,
                .connection = static_cast<uint64_t>(from + to),
                .receiver = this,
                .arrival = {.value = to}});
  }

  void OnEvent(const SimulatedEvent& event) override {
    if (event.value > 0) {
      Send(static_cast<int>(event.value), 0, block_bytes_);
    } else if (--missing_ == 0) {
      ended_ns_ = simulator_.now_ns(0);
      if (--rounds_left_ > 0) StartRound();
    }
  }

  const int servers_;
  const int64_t block_bytes_;
  const ClusterModel model_;
  Simulator simulator_{OptionsFor(model_)};
  SimulatedNetwork network_{model_, simulator_};
  Mail mail_{network_};
  int missing_ = 0;
  int rounds_left_ = 0;
  int64_t ended_ns_ = 0;
};

TEST(NetworkTheoryTest, AnIncastIsAsFastAsTheLinkOfItsClient) {
  constexpr int64_t kBlockBytes = 10'000;
  constexpr int kRounds = 5;
  for (const int servers : {1, 2, 16, 64, 1000}) {
    const int64_t round_ns = 4 * 1000 + servers * kBlockBytes;
    EXPECT_EQ(Incast(servers, kBlockBytes).Run(kRounds), kRounds * round_ns)
        << servers;
  }
}

}  // namespace
}  // namespace distbench::simulation
