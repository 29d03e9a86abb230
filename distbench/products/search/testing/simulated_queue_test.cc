// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/testing/simulated_queue.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::search {
namespace {

constexpr double kServiceRate = 500;

std::vector<double> Responses(QueueKind kind, double load) {
  std::mt19937_64 random(1);
  std::vector<double> responses;
  Simulate({kind, kServiceRate}, load, /*seconds=*/2000, random,
           [&](double arrival, double response) {
             EXPECT_GE(arrival, 0);
             responses.push_back(response);
           });
  return responses;
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

TEST(SimulatedQueueTest, HasTheMeanOfTheory) {
  for (const QueueKind kind :
       {QueueKind::kExponentialService, QueueKind::kFixedService,
        QueueKind::kProcessorSharing}) {
    constexpr double kLimit = 0.006;
    const double capacity = CapacityForMean({kind, kServiceRate}, kLimit);
    EXPECT_NEAR(Mean(Responses(kind, capacity)), kLimit, 0.04 * kLimit)
        << static_cast<int>(kind);
  }
}

TEST(SimulatedQueueTest, HasTheQuantilesOfTheory) {
  for (const QueueKind kind :
       {QueueKind::kExponentialService, QueueKind::kFixedService}) {
    for (const double quantile : {0.95, 0.99}) {
      constexpr double kLimit = 0.020;
      const double capacity =
          CapacityForQuantile({kind, kServiceRate}, quantile, kLimit);
      std::vector<double> responses = Responses(kind, capacity);
      const auto nth =
          responses.begin() + static_cast<int64_t>(responses.size() * quantile);
      std::nth_element(responses.begin(), nth, responses.end());
      EXPECT_NEAR(*nth, kLimit, 0.06 * kLimit)
          << static_cast<int>(kind) << " " << quantile;
    }
  }
}

}  // namespace
}  // namespace distbench::search
