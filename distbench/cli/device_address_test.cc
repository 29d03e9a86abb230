#include "distbench/cli/device_address.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::cli {
namespace {

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

TEST(DeviceAddressTest, DevicesWithoutAnAddressForPeersAreErrors) {
  // Link-local addresses have a meaning on their own host only.
  EXPECT_FALSE(AddressOrDevice("ib1", kDevices).ok());
}

}  // namespace
}  // namespace distbench::cli
