// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/property_testing/shrink.h"

#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"

namespace distbench::engine {
namespace {

constexpr int kManyAttempts = 1000;

TEST(ShrinkTest, KeepsOnlyWhatFailureTakes) {
  DistributedSystemDescription test;
  test.set_name("large");
  for (const char* name : {"a", "b", "c"}) {
    ServiceSpec& service = *test.add_services();
    service.set_name(name);
    service.set_count(3);
    test.add_actions()->set_name(name);
  }
  Shrink(test, kManyAttempts, [&] {
    for (const ServiceSpec& service : test.services()) {
      if (service.name() == "b") return true;
    }
    return false;
  });
  EXPECT_EQ(test.ShortDebugString(), "services { name: \"b\" }");
}

TEST(ShrinkTest, LeavesAloneWhatNoLongerFails) {
  DistributedSystemDescription test;
  test.set_name("fails no more");
  Shrink(test, kManyAttempts, [] { return false; });
  EXPECT_EQ(test.name(), "fails no more");
}

TEST(ShrinkTest, StopsAfterItsAttempts) {
  DistributedSystemDescription test;
  for (int i = 0; i < 100; ++i) test.add_services();
  int attempts = 0;
  Shrink(test, /*max_attempts=*/10, [&] { return ++attempts > 0; });
  EXPECT_EQ(attempts, 10);
  EXPECT_EQ(test.services_size(), 90);
}

}  // namespace
}  // namespace distbench::engine
