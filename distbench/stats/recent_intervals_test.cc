// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/recent_intervals.h"

#include <cstdint>
#include <memory>

#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

RecentIntervals::Part PartOf(int rpc, int64_t step, int64_t sent) {
  RecentIntervals::Part part = {.rpc = rpc, .step = step, .interval = {}};
  part.interval.counts.sent = sent;
  return part;
}

TEST(RecentIntervalsTest, WhatIsPublishedIsTakenOnce) {
  RecentIntervals recent;
  EXPECT_EQ(recent.Take(), nullptr);
  recent.Publish({PartOf(1, 10, 5)});
  recent.Publish({PartOf(2, 11, 6), PartOf(1, 11, 7)});
  const std::unique_ptr<RecentIntervals::Parts> parts = recent.Take();
  ASSERT_NE(parts, nullptr);
  ASSERT_EQ(parts->size(), 3);
  EXPECT_EQ((*parts)[0].rpc, 1);
  EXPECT_EQ((*parts)[1].step, 11);
  EXPECT_EQ((*parts)[2].interval.counts.sent, 7);
  EXPECT_EQ(recent.Take(), nullptr);
}

TEST(RecentIntervalsTest, WhatNobodyTakesStaysSmallAndComplete) {
  constexpr int kSteps = 10'000;
  RecentIntervals recent;
  for (int step = 0; step < kSteps; ++step) {
    recent.Publish({PartOf(0, step, 1), PartOf(1, step, 2)});
  }
  int64_t sent[2] = {};
  const std::unique_ptr<RecentIntervals::Parts> parts = recent.Take();
  EXPECT_LT(parts->size(), 1000);
  for (const RecentIntervals::Part& part : *parts) {
    sent[part.rpc] += part.interval.counts.sent;
  }
  EXPECT_EQ(sent[0], kSteps);
  EXPECT_EQ(sent[1], 2 * kSteps);
  EXPECT_EQ(parts->back().step, kSteps - 1);
}

}  // namespace
}  // namespace distbench::stats
