// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/routes/fanout.h"

#include <map>
#include <random>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Two services: 0 (clients) and 1 (servers), each of them a grid.
class FanoutTest : public testing::Test {
 protected:
  void AddService(int x, int y = 1, int z = 1) {
    config::ServicePlan service;
    service.sizes[0] = x;
    service.sizes[1] = y;
    service.sizes[2] = z;
    service.instance_count = x * y * z;
    service.first_instance = static_cast<int>(plan_.instances.size());
    for (int i = 0; i < service.instance_count; ++i) {
      plan_.instances.push_back(
          {.service = static_cast<int>(plan_.services.size()),
           .number = i,
           .coordinates = {i % x, i / x % y, i / (x * y)}});
    }
    plan_.services.push_back(service);
  }

  // Instances that `client` of service 0 calls in one iteration.
  std::vector<int> Targets(const config::FanoutPlan& plan, int client,
                           int server_service = 0) {
    config::RpcPlan rpc;
    rpc.fanout = plan;
    rpc.server_service = server_service;
    Fanout fanout(plan_, rpc, client);
    return SelectFrom(fanout);
  }

  std::vector<int> SelectFrom(Fanout& fanout) {
    std::vector<int> targets;
    for (int position : fanout.Select(random_, scratch_)) {
      targets.push_back(fanout.candidates()[position]);
    }
    return targets;
  }

  config::Plan plan_;
  std::mt19937_64 random_{1};
  std::vector<int> scratch_;
};

using Kind = config::FanoutPlan::Kind;

TEST_F(FanoutTest, AllAmongPeersGoesAroundFromTheNext) {
  AddService(5);
  EXPECT_THAT(Targets({.kind = Kind::kAll}, 3), ElementsAre(4, 0, 1, 2));
}

TEST_F(FanoutTest, AllOfAnotherServiceIsShuffled) {
  AddService(1);
  AddService(4);
  config::RpcPlan rpc;
  rpc.server_service = 1;
  Fanout fanout(plan_, rpc, 0);
  std::map<std::vector<int>, int> orders;
  for (int i = 0; i < 24'000; ++i) ++orders[SelectFrom(fanout)];
  ASSERT_EQ(orders.size(), 24u) << "every order of four";
  for (const auto& [order, count] : orders) EXPECT_NEAR(count, 1000, 150);
}

TEST_F(FanoutTest, RandomIsUniformAndNeverOneself) {
  AddService(4);
  config::RpcPlan rpc;
  rpc.fanout.kind = Kind::kRandom;
  Fanout fanout(plan_, rpc, 2);
  std::map<int, int> counts;
  for (int i = 0; i < 30'000; ++i) {
    const std::vector<int> targets = SelectFrom(fanout);
    ASSERT_EQ(targets.size(), 1u);
    ++counts[targets[0]];
  }
  EXPECT_EQ(counts.count(2), 0u);
  for (int other : {0, 1, 3}) EXPECT_NEAR(counts[other], 10'000, 400);
}

TEST_F(FanoutTest, RoundRobinAmongPeersReplacesOneselfByTheLast) {
  AddService(4);
  config::RpcPlan rpc;
  rpc.fanout.kind = Kind::kRoundRobin;
  Fanout fanout(plan_, rpc, 1);
  std::vector<int> sequence;
  for (int i = 0; i < 6; ++i) sequence.push_back(SelectFrom(fanout).at(0));
  EXPECT_THAT(sequence, ElementsAre(0, 3, 2, 0, 3, 2));
}

TEST_F(FanoutTest, AServiceOfOneHasNoPeers) {
  AddService(1);
  for (Kind kind : {Kind::kAll, Kind::kRandom, Kind::kRoundRobin, Kind::kRing,
                    Kind::kAlternatingRing}) {
    EXPECT_THAT(Targets({.kind = kind}, 0), IsEmpty());
  }
}

TEST_F(FanoutTest, StochasticDrawsDistinctUniformTargets) {
  AddService(1);
  AddService(5);
  config::RpcPlan rpc;
  rpc.server_service = 1;
  rpc.fanout = {.kind = Kind::kStochastic, .choices = {{0.7, 1}, {0.3, 4}}};
  Fanout fanout(plan_, rpc, 0);
  constexpr int kIterations = 50'000;
  std::map<size_t, int> sizes;
  std::map<int, int> hits;
  for (int i = 0; i < kIterations; ++i) {
    const std::vector<int> targets = SelectFrom(fanout);
    ++sizes[targets.size()];
    EXPECT_EQ(std::set<int>(targets.begin(), targets.end()).size(),
              targets.size());
    for (int target : targets) ++hits[target];
  }
  EXPECT_EQ(sizes.size(), 2u);
  EXPECT_NEAR(sizes[1], 0.7 * kIterations, 500);
  EXPECT_NEAR(sizes[4], 0.3 * kIterations, 500);
  for (int target = 0; target < 5; ++target) {
    EXPECT_NEAR(hits[target], (0.7 + 0.3 * 4) * kIterations / 5, 600);
  }
}

TEST_F(FanoutTest, StochasticWithMoreTargetsThanPeersCallsThemAll) {
  AddService(3);
  EXPECT_THAT(Targets({.kind = Kind::kStochastic, .choices = {{1.0, 9}}}, 0),
              UnorderedElementsAre(1, 2));
}

// Instance (1, 2, 0) of a 3x3x3 grid is number 1 + 2*3 = 7.
TEST_F(FanoutTest, GridFilters) {
  AddService(3, 3, 3);
  EXPECT_THAT(Targets({.kind = Kind::kSameCoordinates, .axes = {0, 1}}, 7),
              UnorderedElementsAre(16, 25));
  EXPECT_THAT(Targets({.kind = Kind::kSameCoordinates, .axes = {1, 2}}, 7),
              UnorderedElementsAre(6, 8));
  EXPECT_THAT(Targets({.kind = Kind::kSameCoordinates, .axes = {0}}, 7).size(),
              8u);
  EXPECT_THAT(Targets({.kind = Kind::kSameCoordinates, .axes = {0, 1, 2}}, 7),
              IsEmpty());
  EXPECT_THAT(Targets({.kind = Kind::kRing, .axis = 0}, 7), ElementsAre(8));
  EXPECT_THAT(Targets({.kind = Kind::kRing, .axis = 1}, 7), ElementsAre(1));
  EXPECT_THAT(Targets({.kind = Kind::kRing, .axis = 2}, 7), ElementsAre(16));
  EXPECT_THAT(Targets({.kind = Kind::kLinear, .axis = 0, .distance = 1}, 7),
              ElementsAre(8));
  EXPECT_THAT(Targets({.kind = Kind::kLinear, .axis = 0, .distance = 2}, 7),
              IsEmpty());
  EXPECT_THAT(Targets({.kind = Kind::kLinear, .axis = 1, .distance = -2}, 7),
              ElementsAre(1));
}

// Even neighbours call upwards, odd ones downwards; along x the y coordinate
// decides, along y and z the x coordinate does.
TEST_F(FanoutTest, AlternatingRings) {
  AddService(4, 4, 4);
  const auto at = [](int x, int y, int z) { return x + 4 * y + 16 * z; };
  const config::FanoutPlan x_ring = {.kind = Kind::kAlternatingRing, .axis = 0};
  EXPECT_THAT(Targets(x_ring, at(3, 2, 0)), ElementsAre(at(0, 2, 0)));
  EXPECT_THAT(Targets(x_ring, at(0, 1, 0)), ElementsAre(at(3, 1, 0)));
  const config::FanoutPlan y_ring = {.kind = Kind::kAlternatingRing, .axis = 1};
  EXPECT_THAT(Targets(y_ring, at(2, 3, 0)), ElementsAre(at(2, 0, 0)));
  EXPECT_THAT(Targets(y_ring, at(1, 3, 0)), ElementsAre(at(1, 2, 0)));
  const config::FanoutPlan z_ring = {.kind = Kind::kAlternatingRing, .axis = 2};
  EXPECT_THAT(Targets(z_ring, at(1, 0, 0)), ElementsAre(at(1, 0, 3)));
}

TEST_F(FanoutTest, CoordinatesOutsideTheServersGridHaveNoTarget) {
  AddService(4, 4);
  AddService(2, 2);
  EXPECT_THAT(Targets({.kind = Kind::kSameCoordinates, .axes = {0, 1}}, 5, 1),
              ElementsAre(3));
  EXPECT_THAT(Targets({.kind = Kind::kSameCoordinates, .axes = {0}}, 3, 1),
              IsEmpty());
  EXPECT_THAT(Targets({.kind = Kind::kRing, .axis = 0}, 3, 1), IsEmpty());
}

}  // namespace
}  // namespace distbench::engine
