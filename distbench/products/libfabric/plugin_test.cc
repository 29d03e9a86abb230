// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/settings.h"
#include "distbench/config/catalogs/testing/declaration_testing.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/config/requirements/host_requirements.h"
#include "distbench/node/host_limits.h"
#include "distbench/products/libfabric/declaration.h"
#include "distbench/protocol/registry/registry.h"
#include "distbench/protocol/registry/testing/driver_registration.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "optional_libraries.h"
#include "proto/results.pb.h"
#include "test_builder/protocols/testing/protocol_testing.h"

namespace distbench::libfabric {
namespace {

using config::FindSetting;
using config::SettingValue;
using test_builder::ExpectOptions;
using test_builder::MakeSetup;
using test_builder::ProtocolSetup;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr node::SocketLimits kLimits = {
    .max_open_files = 1000, .open_files = 100, .local_ports = 500};

TEST(LibfabricPluginTest, TheDriverIsRegisteredEvenIfItIsLeftOut) {
  protocol::ExpectIsRegistered("libfabric");
  const config::DriverDeclaration& driver = *config::FindDriver("libfabric");
  EXPECT_EQ(driver.built_in, DISTBENCH_HAS_LIBFABRIC == 1);
  EXPECT_EQ(driver.package, "libfabric-dev");
  EXPECT_FALSE(driver.breaks_connections);
}

TEST(LibfabricPluginTest, NumbersAndWordsAreThoseOfTheDriver) {
  const config::DriverDeclaration& driver = *config::FindDriver("libfabric");
  EXPECT_EQ(FindSetting(driver.server_settings, kProvider)->default_value,
            SettingValue(kDefaultProvider));
  const config::SettingDeclaration& endpoint =
      *FindSetting(driver.server_settings, kEndpoint);
  EXPECT_EQ(endpoint.default_value, SettingValue(kRdmEndpoint));
  EXPECT_THAT(endpoint.allowed_values, ElementsAre(kRdmEndpoint, kMsgEndpoint));
  config::ExpectLimits(driver.client_settings, {config::kTcpSendQueueBytes});
  config::ExpectLimits(driver.server_settings,
                       {kReceiveBuffers, kReceiveBufferBytes});
}

#if DISTBENCH_HAS_LIBFABRIC
TEST(LibfabricPluginTest, TheDriverIsMadeWithItsProvider) {
  config::DriverOptions options = {.driver = "libfabric"};
  options.server_settings["provider"] = "no such";
  auto driver = protocol::MakeProtocolDriver(options, {});
  ASSERT_TRUE(driver.ok()) << driver.status();
  EXPECT_THAT(std::string((*driver)->Listen(1).status().message()),
              HasSubstr("no such"));
}
#endif

TEST(LibfabricPluginTest, EndpointsOpenMoreFilesUnlessTheyShareMemory) {
  const config::DriverOptions tcp = {.driver = "libfabric"};
  const config::DriverOptions shm = {.driver = "libfabric",
                                     .server_settings = {{"provider", "shm"}}};
  EXPECT_TRUE(node::CheckWorkerFiles(tcp, 68, kLimits).ok());
  EXPECT_FALSE(node::CheckWorkerFiles(tcp, 69, kLimits).ok());
  EXPECT_FALSE(node::CheckWorkerFiles(
                   {.driver = "double_barrel", .decorated = {tcp}}, 69, kLimits)
                   .ok());
  EXPECT_TRUE(node::CheckWorkerFiles(shm, 294, kLimits).ok());
  const node::SocketNeeds needs = node::CountSockets(
      {{.driver = &tcp, .peers = {"a/0"}}, {.driver = &shm, .peers = {"a/1"}}});
  EXPECT_EQ(needs.sockets, 1);
  EXPECT_EQ(needs.busiest_peer, "a/0");
}

// What a host does not meet of one requirement.
std::vector<std::string> Unmet(const std::string& fact,
                               const std::string& host) {
  const auto requirements =
      base::FromText<HostRequirements>("facts { " + fact + " }");
  config::Problems problems;
  config::ValidateHostRequirements(config::Path("r"), requirements, problems);
  EXPECT_EQ(problems.count(), 0);
  return config::UnmetRequirements(requirements,
                                   base::FromText<HostFacts>(host));
}

TEST(LibfabricPluginTest, ProvidersOfLibfabricMayLackTheirLayers) {
  const std::string host = "libfabric_providers: ['shm', 'tcp;ofi_rxm']";
  for (const std::string met : {"tcp", "tcp;ofi_rxm", "shm, tcp"}) {
    EXPECT_THAT(
        Unmet("name: 'libfabric_providers' string_value: '" + met + "'", host),
        IsEmpty());
  }
  const std::string fact =
      "name: 'libfabric_providers' string_value: 'tcp,efa'";
  EXPECT_THAT(Unmet(fact, host),
              ElementsAre(HasSubstr("requires all of \"tcp,efa\"")));
  EXPECT_THAT(Unmet(fact, "libfabric_problem: 'too old'"),
              ElementsAre(HasSubstr("is not known")));
}

TEST(LibfabricPluginTest, TestBuilderNamesWhatIsSet) {
  const ProtocolSetup setup = MakeSetup("libfabric", {{"provider", "net"},
                                                      {"endpoint", "msg"},
                                                      {"receive_buffers", "64"},
                                                      {"spin_us", "50"}});
  EXPECT_EQ(setup.alias, "libfabric_net_msg_64_spin50");
  ExpectOptions(setup, R"pb(
    server_settings { name: "provider" string_value: "net" }
    server_settings { name: "endpoint" string_value: "msg" }
    server_settings { name: "receive_buffers" int64_value: 64 }
    server_settings { name: "spin_us" int64_value: 50 }
  )pb");
}

}  // namespace
}  // namespace distbench::libfabric
