// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/exposure.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<protocol::InterfaceAddress> kDevices = {
    {.interface_name = "lo", .ip = "127.0.0.1"},
    {.interface_name = "eth0", .ip = "10.0.0.7"},
    {.interface_name = "ib0", .ip = "10.1.0.7"},
    {.interface_name = "ib1", .ip = "fe80::1"}};

TEST(DeviceAddressTest, DevicesStandForTheirAddresses) {
  EXPECT_EQ(*AddressOrDevice("ib0", kDevices), "10.1.0.7");
  EXPECT_EQ(*AddressOrDevice("lo", kDevices), "127.0.0.1");
}

TEST(DeviceAddressTest, OtherTextsStayAsTheyAre) {
  for (const char* text : {"", "10.0.0.9", "host1", "eth", "::1"}) {
    EXPECT_EQ(*AddressOrDevice(text, kDevices), text);
  }
}

TEST(DeviceAddressTest, DevicesThatMustExist) {
  EXPECT_EQ(*AddressOfDevice("ib0", kDevices), "10.1.0.7");
  const auto missing = AddressOfDevice("ib9", kDevices);
  EXPECT_THAT(missing.status().message(),
              AllOf(HasSubstr("no network device \"ib9\""),
                    HasSubstr("ib0 (10.1.0.7)")));
  EXPECT_FALSE(AddressOfDevice("10.1.0.7", kDevices).ok());
}

TEST(DeviceAddressTest, DevicesWithoutAnAddressForPeersAreErrors) {
  // Link-local addresses have a meaning on their own host only.
  EXPECT_FALSE(AddressOrDevice("ib1", kDevices).ok());
}

TEST(ExposureTest, LoopbackIsForThisMachine) {
  for (const char* listen : {"localhost", "127.0.0.1", "::1", "127.0.0.9"}) {
    EXPECT_THAT(SequencerExposure(listen, {}, {}),
                AllOf(HasSubstr("Every user of this machine"),
                      HasSubstr("no TLS"), Not(HasSubstr("--listen"))));
    EXPECT_THAT(NodeExposure("", listen, {}),
                HasSubstr("every user of this machine"));
  }
}

TEST(ExposureTest, OtherAddressesAreForEverybody) {
  for (const char* listen : {"10.1.2.3", "host1"}) {
    EXPECT_THAT(SequencerExposure(listen, {}, {}),
                AllOf(HasSubstr("Anybody who can reach "), HasSubstr(listen),
                      HasSubstr("--listen"), HasSubstr("--tls_")));
    EXPECT_THAT(NodeExposure(listen, "", {}), HasSubstr(listen));
  }
  EXPECT_THAT(SequencerExposure("", {}, {}), HasSubstr("Anybody"));
  EXPECT_THAT(NodeExposure("", "", {}), HasSubstr("anybody"));
}

TEST(ExposureTest, TlsWithoutCaProtectsFromListenersOnly) {
  EXPECT_THAT(SequencerExposure("10.1.2.3", {.cert = "c", .key = "k"}, {}),
              AllOf(HasSubstr("Anybody"), HasSubstr("no certificate")));
}

TEST(ExposureTest, TlsNamesWhoMayDoWhat) {
  const security::TlsFiles tls = {.ca = "/ca.crt", .cert = "c", .key = "k"};
  EXPECT_THAT(SequencerExposure("", tls, {}),
              AllOf(HasSubstr("/ca.crt"), HasSubstr("any name to be a node")));
  EXPECT_THAT(SequencerExposure("", tls, {.submit = {"al", "bo"}}),
              HasSubstr("the name al or bo to submit tests"));
  EXPECT_THAT(NodeExposure("", "", tls), HasSubstr("/ca.crt"));
}

}  // namespace
}  // namespace distbench::cli
