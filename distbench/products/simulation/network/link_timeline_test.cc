#include "distbench/products/simulation/network/link_timeline.h"

#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

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

}  // namespace
}  // namespace distbench::simulation
