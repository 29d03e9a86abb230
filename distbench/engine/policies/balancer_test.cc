// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/policies/balancer.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::ElementsAre;

constexpr config::LoadBalancing kKinds[] = {
    config::LoadBalancing::kRoundRobin, config::LoadBalancing::kRandom,
    config::LoadBalancing::kTwoChoices, config::LoadBalancing::kLeastInFlight};

bool Always(int /*server*/) { return true; }

TEST(BalancerTest, RoundRobinTakesTurns) {
  std::mt19937_64 random(1);
  Balancer balancer(config::LoadBalancing::kRoundRobin, 3, /*first=*/4);
  std::vector<int> chosen;
  for (int i = 0; i < 4; ++i) chosen.push_back(balancer.Choose(Always, random));
  EXPECT_THAT(chosen, ElementsAre(1, 2, 0, 1));
}

TEST(BalancerTest, ChoosesUsableServersEvenly) {
  for (const config::LoadBalancing kind : kKinds) {
    std::mt19937_64 random(1);
    Balancer balancer(kind, 10, 0);
    std::vector<int> counts(10);
    for (int i = 0; i < 30'000; ++i) {
      const int server =
          balancer.Choose([](int server) { return server % 3 == 1; }, random);
      ASSERT_NE(server, Balancer::kNoServer);
      ++counts[server];
    }
    for (int server = 0; server < 10; ++server) {
      EXPECT_NEAR(counts[server], server % 3 == 1 ? 10'000 : 0, 400)
          << static_cast<int>(kind) << " " << server;
    }
  }
}

TEST(BalancerTest, ThereMayBeNoUsableServer) {
  std::mt19937_64 random(1);
  for (const config::LoadBalancing kind : kKinds) {
    for (const int servers : {0, 1, 2, 5}) {
      Balancer balancer(kind, servers, 0);
      EXPECT_EQ(balancer.Choose([](int) { return false; }, random),
                Balancer::kNoServer);
    }
    EXPECT_EQ(Balancer(kind, 1, 0).Choose(Always, random), 0);
  }
}

TEST(BalancerTest, PrefersServersWithFewerInFlight) {
  for (const config::LoadBalancing kind :
       {config::LoadBalancing::kTwoChoices,
        config::LoadBalancing::kLeastInFlight}) {
    std::mt19937_64 random(1);
    Balancer balancer(kind, 2, 0);
    balancer.OnStart(0);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(balancer.Choose(Always, random), 1);
    }
    balancer.OnEnd(0);
    balancer.OnStart(1);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(balancer.Choose(Always, random), 0);
    }
  }
}

// As many balls as bins. The fullest bin has about ln n / ln ln n balls if each
// goes to a random one (Gonnet, 1981: 8 or 9 for this n, with a spread of one
// or two), and ln ln n / ln 2 + O(1) with two choices (Azar et al., 1999).
TEST(BalancerTest, TwoChoicesAreFarBetterThanOne) {
  constexpr int kServers = 100'000;
  const auto most = [&](config::LoadBalancing kind) {
    std::mt19937_64 random(7);
    Balancer balancer(kind, kServers, 0);
    std::vector<int> counts(kServers);
    for (int i = 0; i < kServers; ++i) {
      const int server = balancer.Choose(Always, random);
      balancer.OnStart(server);
      ++counts[server];
    }
    return *std::max_element(counts.begin(), counts.end());
  };
  const double log_n = std::log(kServers);
  EXPECT_GE(most(config::LoadBalancing::kRandom),
            std::floor(log_n / std::log(log_n)) + 2);
  EXPECT_LE(most(config::LoadBalancing::kTwoChoices),
            std::ceil(std::log(log_n) / std::log(2)));
}

}  // namespace
}  // namespace distbench::engine
