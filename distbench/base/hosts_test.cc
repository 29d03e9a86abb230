// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/hosts.h"

#include "gtest/gtest.h"

namespace distbench::base {
namespace {

TEST(HostsTest, ThisHostIsKnownByNameAndBoot) {
  EXPECT_FALSE(BootId("").empty());
  EXPECT_TRUE(IsThisHost(Hostname(), BootId("")));
  EXPECT_TRUE(IsThisHost(Hostname(), "")) << "not known";
  EXPECT_FALSE(IsThisHost(Hostname(), "another boot"));
  EXPECT_FALSE(IsThisHost("another name", BootId("")));
  EXPECT_EQ(BootId("/no/such/folder"), "");
}

TEST(HostsTest, HostsOfOneNameAreToldApart) {
  HostNumbers hosts;
  EXPECT_EQ(hosts.Of("localhost", "1"), 0);
  EXPECT_EQ(hosts.Of("localhost", "2"), 1);
  EXPECT_EQ(hosts.Of("container", "2"), 2);
  EXPECT_EQ(hosts.Of("localhost", "1"), 0);
  EXPECT_EQ(hosts.count(), 3);
}

TEST(HostsTest, AnUnknownBootIsComparedByName) {
  HostNumbers hosts;
  EXPECT_EQ(hosts.Of("a", ""), 0);
  EXPECT_EQ(hosts.Of("a", "1"), 0);
  EXPECT_EQ(hosts.Of("a", "2"), 1);
  EXPECT_EQ(hosts.Of("a", ""), 0) << "as before";
  EXPECT_EQ(hosts.Of("b", ""), 2);
}

}  // namespace
}  // namespace distbench::base
