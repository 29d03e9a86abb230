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

  // Instances of service 0 that another one calls.
  std::vector<int> Called(const config::FanoutPlan& plan) {
    config::RpcPlan rpc;
    rpc.fanout = plan;
    rpc.client_services = {0};
    std::vector<int> called;
    for (int i = 0; i < plan_.services[0].instance_count; ++i) {
      if (IsCalledByAnother(plan_, rpc, i)) called.push_back(i);
    }
    return called;
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

TEST_F(FanoutTest, RingsGoAsFarAsTheyAreTold) {
  AddService(5, 2);
  const auto ring = [](int distance) {
    return config::FanoutPlan{
        .kind = Kind::kRing, .axis = 0, .distance = distance};
  };
  EXPECT_THAT(Targets(ring(2), 9), ElementsAre(6));
  EXPECT_THAT(Targets(ring(-1), 5), ElementsAre(9));
  EXPECT_THAT(Targets(ring(-12), 1), ElementsAre(4));
  EXPECT_THAT(Targets(ring(10), 3), IsEmpty());
}

TEST_F(FanoutTest, XorPairsUp) {
  AddService(2, 6);
  const config::FanoutPlan pairs = {
      .kind = Kind::kXor, .axis = 1, .distance = 2};
  EXPECT_THAT(Targets(pairs, 1), ElementsAre(5));
  EXPECT_THAT(Targets(pairs, 5), ElementsAre(1));
  EXPECT_THAT(Targets(pairs, 8), IsEmpty()) << "6 is beyond the edge";
}

TEST_F(FanoutTest, ChildrenHaveTheParentWhoseChildrenTheyAre) {
  AddService(6);
  for (int which : {1, 2}) {
    for (int parent = 0; parent < 6; ++parent) {
      const std::vector<int> children =
          Targets({.kind = Kind::kChild, .axis = 0, .distance = which}, parent);
      const int child = 2 * parent + which;
      if (child >= 6) {
        EXPECT_THAT(children, IsEmpty());
        continue;
      }
      EXPECT_THAT(children, ElementsAre(child));
      EXPECT_THAT(
          Targets({.kind = Kind::kParent, .axis = 0, .distance = which}, child),
          ElementsAre(parent));
      EXPECT_THAT(
          Targets({.kind = Kind::kParent, .axis = 0, .distance = 3 - which},
                  child),
          IsEmpty());
    }
  }
  EXPECT_THAT(Targets({.kind = Kind::kParent, .axis = 0, .distance = 2}, 0),
              IsEmpty())
      << "the root";
}

TEST_F(FanoutTest, KnowsWhoIsCalled) {
  AddService(6, 3);
  AddService(1);
  for (Kind kind : {Kind::kRing, Kind::kAlternatingRing, Kind::kLinear,
                    Kind::kXor, Kind::kChild, Kind::kParent}) {
    for (int axis : {0, 1}) {
      for (int distance : {1, 2, -1, -7, 6, 3}) {
        const config::FanoutPlan plan = {
            .kind = kind, .axis = axis, .distance = distance};
        if (distance < 0 && kind != Kind::kRing && kind != Kind::kLinear) {
          continue;
        }
        std::set<int> targets;
        for (int client = 0; client < 18; ++client) {
          for (int target : Targets(plan, client)) {
            EXPECT_TRUE(targets.insert(target).second) << "by several";
          }
        }
        EXPECT_EQ(Called(plan),
                  std::vector<int>(targets.begin(), targets.end()))
            << static_cast<int>(kind) << " " << axis << " " << distance;
      }
    }
  }
}

}  // namespace
}  // namespace distbench::engine
