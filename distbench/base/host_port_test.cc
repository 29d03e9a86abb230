// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/host_port.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

using ::testing::Pair;

TEST(HostPortTest, JoinsWithBracketsWhereTheyAreNeeded) {
  EXPECT_EQ(JoinHostPort("node7", 1), "node7:1");
  EXPECT_EQ(JoinHostPort("1.2.3.4", 567), "1.2.3.4:567");
  EXPECT_EQ(JoinHostPort("1::2", 567), "[1::2]:567");
}

TEST(HostPortTest, SplitsWhatItJoins) {
  EXPECT_THAT(SplitHostPort("node7:1"), Pair("node7", "1"));
  EXPECT_THAT(SplitHostPort("[1::2]:567"), Pair("1::2", "567"));
  EXPECT_THAT(SplitHostPort(":80"), Pair("", "80"));
  EXPECT_THAT(SplitHostPort("node7"), Pair("node7", ""));
  EXPECT_THAT(SplitHostPort(""), Pair("", ""));
}

TEST(PeerAddressTest, LoopbackAndThisProcessAreLocal) {
  for (const char* peer :
       {"ipv4:127.0.0.1:4711", "ipv4:127.3.2.1:4711", "ipv6:[::1]:4711",
        "ipv6:%5B::1%5D:4711", "ipv6:[::ffff:127.0.0.1]:4711",
        "ipv6:%5B::ffff:127.0.0.1%5D:4711", "unix:/tmp/socket", "inproc",
        "unknown"}) {
    EXPECT_TRUE(IsLocalPeer(peer)) << peer;
  }
}

TEST(PeerAddressTest, OtherAddressesAreNot) {
  for (const char* peer : {"ipv4:10.0.0.1:4711", "ipv4:12.7.0.1:127",
                           "ipv6:[::10]:4711", "ipv6:%5Bfe80::1%5D:4711", ""}) {
    EXPECT_FALSE(IsLocalPeer(peer)) << peer;
  }
}

TEST(PeerAddressTest, HostIsWithoutItsPort) {
  EXPECT_EQ(PeerHost("ipv4:10.0.0.7:4711"), "10.0.0.7");
  EXPECT_EQ(PeerHost("ipv6:[fe80::1]:4711"), "fe80::1");
  EXPECT_EQ(PeerHost("ipv6:%5B::1%5D:4711"), "::1");
  EXPECT_EQ(PeerHost("unix:/tmp/socket"), "unix:/tmp/socket");
  EXPECT_EQ(PeerHost("unknown"), "unknown");
}

}  // namespace
}  // namespace distbench::base
