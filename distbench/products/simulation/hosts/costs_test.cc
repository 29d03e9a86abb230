// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/hosts/costs.h"

#include <cmath>

#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

TEST(LognormalFactorsTest, HaveTheirMeanAndSpread) {
  const LognormalFactors factors(0.5);
  base::WorkRandom random(1);
  constexpr int kDraws = 200'000;
  double sum = 0;
  double logs = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double factor = factors.Draw(random);
    sum += factor;
    logs += std::log(factor);
    squares += std::log(factor) * std::log(factor);
  }
  const double mean_log = logs / kDraws;
  EXPECT_NEAR(sum / kDraws, 1, 0.01);
  EXPECT_NEAR(std::sqrt(squares / kDraws - mean_log * mean_log), 0.5, 0.01);
}

TEST(LognormalFactorsTest, WithoutSpreadAreOne) {
  const LognormalFactors factors(0);
  base::WorkRandom random(1);
  for (int i = 0; i < 100; ++i) EXPECT_DOUBLE_EQ(factors.Draw(random), 1);
}

TEST(RpcCostsTest, GrowWithTheirBytes) {
  StackCosts given;
  given.mutable_server_send()->set_fixed_ns(100);
  given.mutable_server_send()->set_ns_per_byte(0.5);
  const RpcCosts costs(given);
  EXPECT_DOUBLE_EQ(WorkNs(costs.stack.server_send(), 1000), 600);
  EXPECT_DOUBLE_EQ(WorkNs(costs.stack.client_send(), 1000), 0);
}

}  // namespace
}  // namespace distbench::simulation
