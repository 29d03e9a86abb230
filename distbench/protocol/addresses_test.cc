// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/addresses.h"

#include <sys/un.h>

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/protocol/driver_parts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

using Candidates = std::vector<InterfaceAddress>;

const InterfaceAddress kLoopback4{"lo", "127.0.0.1"};
const InterfaceAddress kLoopback6{"lo", "::1"};
const InterfaceAddress kPublic4{"eth0", "8.8.4.4"};
const InterfaceAddress kPublic6{"eth0", "2001:4860::8"};
const InterfaceAddress kPrivate4{"eth1", "10.1.2.3"};
const InterfaceAddress kPrivate6{"eth1", "fd00::3"};
const InterfaceAddress kLinkLocal4{"eth2", "169.254.1.1"};
const InterfaceAddress kLinkLocal6{"eth2", "fe80::1"};

std::string Choose(const Candidates& candidates,
                   const AddressPreference& preference = {}) {
  const absl::StatusOr<std::string> host =
      ChooseHostAddress(candidates, preference);
  return host.ok() ? *host : std::string(host.status().message());
}

TEST(ChooseHostAddressTest, AnyOtherAddressBeatsLoopback) {
  EXPECT_EQ(Choose({kLoopback6, kPublic4}), kPublic4.ip);
  EXPECT_EQ(Choose({kLoopback4, kPublic4}), kPublic4.ip);
}

TEST(ChooseHostAddressTest, PrefersIpv6AndPrivateAddresses) {
  EXPECT_EQ(Choose({kPublic4, kPublic6}), kPublic6.ip);
  EXPECT_EQ(Choose({kPublic4, kPrivate4}), kPrivate4.ip);
  EXPECT_EQ(Choose({kPublic4, kPublic6, kPrivate4, kPrivate6}), kPrivate6.ip);
  EXPECT_EQ(Choose({kLoopback4, kLoopback6}), kLoopback6.ip);
}

TEST(ChooseHostAddressTest, TheFirstOfEqualsWins) {
  EXPECT_EQ(Choose({kPublic6, kPrivate4}), kPublic6.ip);
  EXPECT_EQ(Choose({kPrivate4, kPublic6}), kPrivate4.ip);
}

TEST(ChooseHostAddressTest, KnowsPrivateRanges) {
  for (const char* ip : {"10.0.0.1", "172.16.0.1", "172.31.255.255",
                         "192.168.1.1", "fc00::1", "fdff::1"}) {
    EXPECT_EQ(Choose({{"a", "11.0.0.1"}, {"b", ip}}), ip);
  }
  for (const char* ip : {"172.15.0.1", "172.32.0.1", "192.169.1.1"}) {
    EXPECT_EQ(Choose({{"a", "11.0.0.1"}, {"b", ip}}), "11.0.0.1");
  }
}

TEST(ChooseHostAddressTest, KeepsToTheVersionAndTheDevice) {
  const Candidates all = {kLoopback4, kLoopback6, kPublic4,
                          kPublic6,   kPrivate4,  kPrivate6};
  EXPECT_EQ(Choose(all, {.ip_version = 4}), kPrivate4.ip);
  EXPECT_EQ(Choose(all, {.ip_version = 6}), kPrivate6.ip);
  EXPECT_EQ(Choose(all, {.netdev = "eth0"}), kPublic6.ip);
  EXPECT_EQ(Choose(all, {.netdev = "eth0", .ip_version = 4}), kPublic4.ip);
  EXPECT_EQ(Choose(all, {.netdev = "lo", .ip_version = 4}), kLoopback4.ip);
}

TEST(ChooseHostAddressTest, NeverChoosesLinkLocalAddresses) {
  EXPECT_EQ(Choose({kLinkLocal4, kLinkLocal6, kLoopback4}), kLoopback4.ip);
}

TEST(ChooseHostAddressTest, ErrorNamesWhatWasWantedAndWhatThereIs) {
  EXPECT_THAT(
      Choose({kLoopback4, kPublic4}, {.netdev = "eth9", .ip_version = 6}),
      AllOf(HasSubstr("no usable IPv6 address on network device \"eth9\""),
            HasSubstr("lo 127.0.0.1, eth0 8.8.4.4")));
}

TEST(CheckDeviceTest, ADeviceThatAHostLacksIsTheErrorOfTheChoice) {
  EXPECT_TRUE(CheckDevice("eth0", {"lo", "eth0"}).ok());
  EXPECT_THAT(CheckDevice("eth9", {"lo", "eth0"}).message(),
              AllOf(HasSubstr("no usable address on network device \"eth9\""),
                    HasSubstr("this host has: lo, eth0")));
}

ListenAddress Listen(absl::string_view service_address,
                     const AddressPreference& preference = {}) {
  return ChooseListenAddress({kLoopback4, kPublic4, kPrivate4}, preference,
                             service_address)
      .value();
}

TEST(ChooseListenAddressTest, WithoutServiceAddressPeersAreToldTheBoundOne) {
  EXPECT_EQ(Listen("").bind_host, kPrivate4.ip);
  EXPECT_EQ(Listen("").advertised_host, kPrivate4.ip);
}

TEST(ChooseListenAddressTest, ServiceAddressesListenEverywhere) {
  EXPECT_EQ(Listen("node7.rack").advertised_host, "node7.rack");
  EXPECT_EQ(Listen("node7.rack").bind_host, "::");
  EXPECT_EQ(Listen("node7.rack", {.ip_version = 4}).bind_host, "0.0.0.0");
  EXPECT_EQ(Listen("1.2.3.4").bind_host, "0.0.0.0");
  EXPECT_EQ(Listen("[2001::5]").bind_host, "::");
  EXPECT_EQ(Listen("[2001::5]").advertised_host, "2001::5");
  EXPECT_EQ(Listen("node7.rack", {.netdev = "eth0"}).bind_host, kPublic4.ip);
}

TEST(ChooseListenAddressTest, LoopbackServiceAddressesListenOnLoopbackOnly) {
  EXPECT_EQ(Listen("127.0.0.2").bind_host, "127.0.0.2");
  EXPECT_EQ(Listen("[::1]").bind_host, "::1");
  EXPECT_EQ(Listen("localhost", {.netdev = "eth0"}).bind_host, "localhost");
}

TEST(ChooseListenAddressTest, PassesErrorsOn) {
  EXPECT_FALSE(ChooseListenAddress({}, {}, "").ok());
  EXPECT_FALSE(ChooseListenAddress({}, {.netdev = "eth9"}, "node7").ok());
}

TEST(ListInterfaceAddressesTest, FindsLoopback) {
  EXPECT_THAT(ListInterfaceAddresses().value(),
              Contains(Field(&InterfaceAddress::ip, "127.0.0.1")));
}

TEST(UnixAddressTest, AddressesAreNewAndFit) {
  const std::string address = NewUnixAddress(false).value();
  EXPECT_TRUE(IsUnixAddress(address));
  EXPECT_NE(NewUnixAddress(false).value(), address);
  EXPECT_LT(address.size() - std::strlen(kUnixScheme),
            sizeof(sockaddr_un::sun_path));
  EXPECT_FALSE(IsUnixAddress("ipv4:127.0.0.1:80"));
}

TEST(UnixAddressTest, ThereIsNoTls) {
  const absl::Status status = NewUnixAddress(true).status();
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("\"unix\""), HasSubstr("--tls_ca")));
}

TEST(UnixAddressTest, OtherHostsAreRefusedBeforeTheyAreDialled) {
  const std::string here = NewUnixAddress(false).value();
  EXPECT_TRUE(PeersToDial(SingleServers({here}), false).ok());
  const std::string there = absl::StrCat(
      kUnixScheme, "distbench-00000000-1111-2222-3333-444444444444-5-abc");
  const absl::Status status =
      PeersToDial(SingleServers({here, there}), false).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(there), HasSubstr("transport \"tcp\"")));
}

}  // namespace
}  // namespace distbench::protocol
