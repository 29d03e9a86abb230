// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/driver_parts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(FailureListTest, NamesEachFailureOnce) {
  FailureList failures;
  EXPECT_TRUE(failures.empty());
  for (const char* failure : {"a (refused)", "b (refused)", "a (refused)"}) {
    failures.Add(failure);
  }
  EXPECT_FALSE(failures.empty());
  EXPECT_EQ(failures.ToString(), "a (refused), b (refused)");
}

TEST(FailureListTest, NamesTheFirstThree) {
  FailureList failures;
  for (const char* failure : {"a", "b", "c"}) failures.Add(failure);
  EXPECT_EQ(failures.ToString(), "a, b, c");
  for (const char* failure : {"d", "e", "e"}) failures.Add(failure);
  EXPECT_EQ(failures.ToString(), "a, b, c and 2 more");
}

TEST(AnnouncedTlsTest, AddressesArriveAsTheyWere) {
  for (bool uses_tls : {false, true}) {
    const std::string announced = AnnounceTls("ipv4:127.0.0.1:80", uses_tls);
    EXPECT_EQ(announced == "ipv4:127.0.0.1:80", !uses_tls);
    const auto peers = PeersToDial(
        {{.addresses = {announced}}, {.addresses = {announced, announced}}},
        uses_tls);
    ASSERT_TRUE(peers.ok()) << peers.status();
    for (const Peer& peer : *peers) {
      EXPECT_THAT(peer.addresses, testing::Each("ipv4:127.0.0.1:80"));
    }
  }
}

TEST(AnnouncedTlsTest, MixturesAreRefused) {
  const auto error = [](const std::string& address, bool uses_tls) {
    return std::string(
        PeersToDial(SingleServers({address}), uses_tls).status().message());
  };
  EXPECT_THAT(error(AnnounceTls("1.2.3.4:5", true), false),
              AllOf(HasSubstr("1.2.3.4:5 uses TLS"), HasSubstr("--tls_ca")));
  EXPECT_THAT(error("1.2.3.4:5", true),
              HasSubstr("1.2.3.4:5 does not use TLS"));
}

}  // namespace
}  // namespace distbench::protocol
