// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/activity_pools/activities.h"

#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

TEST(WaitPlacesTest, GivesAsManyAsThereAre) {
  WaitPlaces places(2);
  PlaceSeeker a, b, c;
  EXPECT_TRUE(places.TryTakePlace(a));
  EXPECT_TRUE(places.TryTakePlace(b));
  EXPECT_FALSE(places.TryTakePlace(c));
  EXPECT_EQ(places.Free(), &c);
  EXPECT_EQ(places.Free(), nullptr);
  EXPECT_TRUE(places.TryTakePlace(a));
}

TEST(WaitPlacesTest, FirstComeFirstServed) {
  WaitPlaces places(1);
  PlaceSeeker holder, a, b, c;
  EXPECT_TRUE(places.TryTakePlace(holder));
  for (PlaceSeeker* seeker : {&a, &b, &c})
    EXPECT_FALSE(places.TryTakePlace(*seeker));
  EXPECT_EQ(places.Free(), &a);
  EXPECT_EQ(places.Free(), &b);
  EXPECT_EQ(places.Free(), &c);
}

TEST(WaitPlacesTest, ThoseWhoLeaveGetNone) {
  WaitPlaces places(1);
  PlaceSeeker holder, a, b, c;
  EXPECT_TRUE(places.TryTakePlace(holder));
  for (PlaceSeeker* seeker : {&a, &b, &c})
    EXPECT_FALSE(places.TryTakePlace(*seeker));
  EXPECT_TRUE(places.StopWaiting(b));
  EXPECT_EQ(places.Free(), &a);
  // Too late: it already has a place.
  EXPECT_FALSE(places.StopWaiting(a));
  EXPECT_TRUE(places.StopWaiting(c));
  EXPECT_EQ(places.Free(), nullptr);
}

}  // namespace
}  // namespace distbench::engine
