// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/name_resolver.h"

#include <string>

#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

using ::testing::ElementsAre;

bool Contains(const char* range, const char* address) {
  return AddressRange::Parse(range).value().Contains(
      AddressRange::Parse(address).value());
}

TEST(AddressRange, ContainsAddressesWithItsFirstBitsAndItsPort) {
  EXPECT_TRUE(Contains("10.1.2.0/24:9", "10.1.2.255:9"));
  EXPECT_FALSE(Contains("10.1.2.0/24:9", "10.1.3.0:9"));
  EXPECT_FALSE(Contains("10.1.2.0/24:9", "10.1.2.3:8")) << "the port";
  EXPECT_TRUE(Contains("10.1.2.16/28:9", "10.1.2.31:9"));
  EXPECT_FALSE(Contains("10.1.2.16/28:9", "10.1.2.32:9"));
  EXPECT_TRUE(Contains("[2001:db8::/33]:9", "[2001:db8:7fff::1]:9"));
  EXPECT_FALSE(Contains("[2001:db8::/33]:9", "[2001:db8:8000::1]:9"));
}

TEST(AddressRange, OfOneAddressHasOnlyThat) {
  EXPECT_TRUE(Contains("10.1.2.3:9", "10.1.2.3:9"));
  EXPECT_FALSE(Contains("10.1.2.3:9", "10.1.2.2:9"));
  EXPECT_TRUE(Contains("[0:0::1]:9", "[::1]:9")) << "however it is written";
  EXPECT_EQ(AddressRange::Parse("[::1]:9")->bits(), 128);
}

TEST(AddressRange, OfOneFamilyHasNothingOfTheOther) {
  EXPECT_TRUE(Contains("0.0.0.0/0:9", "255.1.1.1:9"));
  EXPECT_FALSE(Contains("0.0.0.0/0:9", "[::1]:9"));
  EXPECT_TRUE(Contains("0.0.0.0/0:9", "[::ffff:1.2.3.4]:9"))
      << "which is dialled as 1.2.3.4";
}

TEST(AddressRange, DoesNotContainAWiderOne) {
  EXPECT_FALSE(Contains("10.1.2.0/24:9", "10.1.0.0/16:9"));
}

TEST(AddressRange, IsNothingElse) {
  for (const char* bad :
       {"1.2.3.4:+5", "1.2.3.0/+24:5", "", "cache:1", "10.1.2:9",
        "10.1.2.0/33:9", "10.1.2.0/-1:9", "10.1.2.0/:9", "10.1.2.0/24",
        "10.1.2.0/24:0", "10.1.2.0/24:65536", "[::1/129]:9", "cache/24:1",
        "10.1.2.0/24x:9"}) {
    EXPECT_FALSE(AddressRange::Parse(bad).has_value()) << bad;
  }
}

TEST(ResolveBySystem, KnowsAddresses) {
  const auto found = ResolveBySystem("127.0.0.1");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(*found, ElementsAre("127.0.0.1"));
}

TEST(ResolveBySystem, SaysWhatItDoesNotKnow) {
  const auto found = ResolveBySystem(std::string(300, 'x'));
  EXPECT_EQ(found.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(base::Message(found.status()), "");
}

}  // namespace
}  // namespace distbench::external
