// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/kernel/simulator.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr int64_t kLookaheadNs = 100;

bool IsNeverOver() { return false; }

// Nodes that send each other tokens at random, and note what they get.
class TokenRing {
 public:
  TokenRing(int nodes, int threads)
      : simulator_({.nodes = nodes,
                    .threads = threads,
                    .lookahead_ns = kLookaheadNs}) {
    std::vector<int> thread_of_node;
    for (int i = 0; i < nodes; ++i) {
      nodes_.push_back(std::make_unique<Node>(simulator_, i, nodes_));
      thread_of_node.push_back(i % threads);
    }
    for (int i = 0; i < nodes; ++i) {
      simulator_.Schedule(i, i, i % 7, *nodes_[i], {.value = i});
    }
    simulator_.AssignThreads(std::move(thread_of_node));
  }

  int64_t Run(int64_t end_ns) { return simulator_.Run(end_ns, IsNeverOver); }

  // By node: time and token of each event.
  using Log = std::vector<std::pair<int64_t, int64_t>>;
  std::vector<Log> logs() const {
    std::vector<Log> logs;
    for (const auto& node : nodes_) logs.push_back(node->log);
    return logs;
  }
  uint64_t event_count() const { return simulator_.event_count(); }

 private:
  struct Node : SimulatedEventHandler {
    Node(Simulator& simulator, int index,
         std::vector<std::unique_ptr<Node>>& nodes)
        : simulator(simulator), index(index), nodes(nodes), random(index) {}

    void OnEvent(const SimulatedEvent& event) override {
      const int64_t now_ns = simulator.now_ns(index);
      log.emplace_back(now_ns, event.value);
      const int to = static_cast<int>(random() % nodes.size());
      // Few different times, so that many events have the same one.
      const int64_t delay_ns = kLookaheadNs * (1 + random() % 3);
      simulator.Schedule(index, to, now_ns + delay_ns, *nodes[to],
                         {.value = event.value});
    }

    Simulator& simulator;
    const int index;
    std::vector<std::unique_ptr<Node>>& nodes;
    std::mt19937 random;
    Log log;
  };

  Simulator simulator_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

// Many nodes have windows of many events, which several threads run.
TEST(SimulatorTest, EveryNumberOfThreadsGivesTheSame) {
  for (int nodes : {20, 2000}) {
    const int64_t end_ns = 20'000'000 / nodes;
    TokenRing one(nodes, 1);
    one.Run(end_ns);
    EXPECT_GT(one.event_count(), 50'000u);
    for (int threads : {2, 3, 5}) {
      TokenRing several(nodes, threads);
      several.Run(end_ns);
      EXPECT_EQ(several.logs(), one.logs()) << nodes << " on " << threads;
      EXPECT_EQ(several.event_count(), one.event_count());
    }
  }
}

TEST(SimulatorTest, RunsInPartsLikeAtOnce) {
  TokenRing whole(5, 2);
  whole.Run(100'000);
  TokenRing parts(5, 2);
  for (int64_t end_ns = 777; end_ns < 100'000; end_ns += 777) {
    EXPECT_GT(parts.Run(end_ns), end_ns);
  }
  parts.Run(100'000);
  EXPECT_EQ(parts.logs(), whole.logs());
}

// Notes times, and schedules nothing.
struct Notes : SimulatedEventHandler {
  void OnEvent(const SimulatedEvent& event) override {
    values.push_back(event.value);
    times_ns.push_back(simulator->now_ns(0));
  }
  Simulator* simulator = nullptr;
  std::vector<int64_t> values;
  std::vector<int64_t> times_ns;
};

TEST(SimulatorTest, EventsOfATimeKeepTheirOrder) {
  Simulator simulator({.nodes = 2, .lookahead_ns = 1});
  Notes notes;
  notes.simulator = &simulator;
  simulator.Schedule(1, 0, 50, notes, {.value = 3});
  simulator.Schedule(0, 0, 50, notes, {.value = 1});
  simulator.Schedule(0, 0, 50, notes, {.value = 2});
  simulator.Schedule(0, 0, 7, notes, {.value = 0});
  EXPECT_EQ(simulator.Run(kNever, IsNeverOver), kNever);
  EXPECT_THAT(notes.values, testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(notes.times_ns, testing::ElementsAre(7, 50, 50, 50));
}

TEST(SimulatorTest, AnEventAtTheEndRunsAndOneAfterItDoesNot) {
  Simulator simulator({.lookahead_ns = 1000});
  Notes notes;
  notes.simulator = &simulator;
  simulator.Schedule(0, 0, 10, notes, {.value = 10});
  simulator.Schedule(0, 0, 11, notes, {.value = 11});
  EXPECT_EQ(simulator.Run(10, IsNeverOver), 11);
  EXPECT_THAT(notes.values, testing::ElementsAre(10));
}

TEST(SimulatorTest, TimePassesWithoutEventsToo) {
  Simulator simulator({.nodes = 2, .threads = 2});
  simulator.AssignThreads({0, 1});
  Notes notes;
  notes.simulator = &simulator;
  simulator.Schedule(0, 0, 5000, notes, {.value = 1});
  EXPECT_EQ(simulator.Run(1000, IsNeverOver), 5000);
  EXPECT_EQ(simulator.now_ns(0), 1000);
  EXPECT_EQ(simulator.now_ns(1), 1000);
}

TEST(SimulatorTest, TheLastEventOfAllMayEndIt) {
  Simulator simulator{SimulatorOptions()};
  Notes notes;
  notes.simulator = &simulator;
  simulator.Schedule(0, 0, 7, notes, {.value = 1});
  bool was_seen = false;
  simulator.Run(1000, [&] {
    was_seen = !notes.values.empty();
    return was_seen;
  });
  EXPECT_TRUE(was_seen);
  EXPECT_EQ(simulator.now_ns(0), 8);
}

TEST(SimulatorTest, EndsBetweenWindowsWhenItIsOver) {
  Simulator simulator({.lookahead_ns = 10});
  Notes notes;
  notes.simulator = &simulator;
  for (int64_t time_ns : {1, 5, 30}) {
    simulator.Schedule(0, 0, time_ns, notes, {.value = time_ns});
  }
  const auto has_one = [&] { return !notes.values.empty(); };
  EXPECT_EQ(simulator.Run(kNever, has_one), 30);
  EXPECT_THAT(notes.values, testing::ElementsAre(1, 5));
}

}  // namespace
}  // namespace distbench::simulation
