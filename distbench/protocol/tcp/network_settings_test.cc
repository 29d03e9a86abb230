// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests network settings on sockets, and on the connections of drivers.

#include "distbench/protocol/tcp/network_settings.h"

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/tcp_driver.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "distbench/security/testing/testing_certificates.h"
#include "distbench/security/tls_session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

int64_t NumberIn(const std::string& file) {
  std::ifstream stream(file);
  int64_t number = -1;
  stream >> number;
  return number;
}

bool HasMptcp() { return OpenSocket(AF_INET, {.mptcp = true}).is_open(); }

// What every host permits.
NetworkSettings Everything() {
  return {.congestion_control = "reno",
          .dscp = 10,
          .send_buffer_bytes = 50'000,
          .receive_buffer_bytes = 60'000,
          .no_delay = false,
          .zero_copy = true,
          .busy_poll_us = 0,
          .max_pacing_bytes_per_second = int64_t{5} << 32};
}

std::vector<NetworkReading> EverythingFound() {
  return {{"congestion_control", "reno", "reno"},
          {"dscp", "10", "10"},
          {"send_buffer_bytes", "50000", "100000"},
          {"receive_buffer_bytes", "60000", "120000"},
          {"busy_poll_us", "0", "0"},
          {"max_pacing_bytes_per_second", "21474836480", "21474836480"},
          {"no_delay", "off", "off"},
          {"zero_copy", "on", "on"}};
}

std::string ErrorOf(const NetworkSettings& settings, int family = AF_INET) {
  return std::string(TryNetworkSettings(settings, family).message());
}

// ---- Sockets ----------------------------------------------------------------

TEST(NetworkSettingsTest, ReadsThemFromOptions) {
  const NetworkSettings settings =
      ReadNetworkSettings({{"congestion_control", "bbr"},
                           {"dscp", int64_t{46}},
                           {"ecn", "require"},
                           {"send_buffer_bytes", int64_t{4096}},
                           {"receive_buffer_bytes", int64_t{8192}},
                           {"no_delay", "off"},
                           {"zero_copy", "on"},
                           {"busy_poll_us", int64_t{50}},
                           {"mptcp", "on"},
                           {"max_pacing_bytes_per_second", int64_t{1000}}});
  EXPECT_EQ(settings.congestion_control, "bbr");
  EXPECT_EQ(settings.dscp, 46);
  EXPECT_TRUE(settings.requires_ecn);
  EXPECT_EQ(settings.send_buffer_bytes, 4096);
  EXPECT_EQ(settings.receive_buffer_bytes, 8192);
  EXPECT_FALSE(settings.no_delay);
  EXPECT_TRUE(settings.zero_copy);
  EXPECT_EQ(settings.busy_poll_us, 50);
  EXPECT_TRUE(settings.mptcp);
  EXPECT_EQ(settings.max_pacing_bytes_per_second, 1000);
}

TEST(NetworkSettingsTest, ByDefaultNothingIsAskedFor) {
  const NetworkSettings settings = ReadNetworkSettings({});
  const base::FileDescriptor fd = OpenSocket(AF_INET, settings);
  EXPECT_TRUE(ApplyNetworkSettings(settings, fd.get()).ok());
  EXPECT_THAT(ReadBack(settings, fd.get()), IsEmpty());
}

TEST(NetworkSettingsTest, ASocketHasWhatWasAppliedToIt) {
  for (const int family : {AF_INET, AF_INET6}) {
    const base::FileDescriptor fd = OpenSocket(family, Everything());
    if (!fd.is_open()) continue;  // a kernel without IPv6
    const absl::Status applied = ApplyNetworkSettings(Everything(), fd.get());
    ASSERT_TRUE(applied.ok()) << applied;
    EXPECT_EQ(ReadBack(Everything(), fd.get()), EverythingFound());
  }
}

TEST(NetworkSettingsTest, ReadsBackWhatTheSocketHasNotWhatWasAskedFor) {
  const base::FileDescriptor fd = OpenSocket(AF_INET, {});
  const std::vector<NetworkReading> found = ReadBack({.dscp = 10}, fd.get());
  EXPECT_EQ(found, (std::vector<NetworkReading>{{"dscp", "10", "0", false}}));
}

TEST(NetworkSettingsTest, AnErrorNamesTheCongestionControlsOfTheHost) {
  EXPECT_THAT(
      ErrorOf({.congestion_control = "no_such"}),
      AllOf(HasSubstr("congestion_control cannot be no_such: No such file"),
            HasSubstr("name one that this host permits: "), HasSubstr("reno")));
}

TEST(NetworkSettingsTest, ABufferThatTheKernelCutsDownIsAnError) {
  const int64_t asked = int64_t{1} << 29;
  if (NumberIn("/proc/sys/net/core/wmem_max") >= asked ||
      NumberIn("/proc/sys/net/core/rmem_max") >= asked) {
    GTEST_SKIP() << "this host permits buffers of any size";
  }
  EXPECT_THAT(ErrorOf({.send_buffer_bytes = asked}),
              AllOf(HasSubstr("send_buffer_bytes cannot be 536870912"),
                    HasSubstr("the kernel has made it "),
                    HasSubstr("raise net.core.wmem_max")));
  EXPECT_THAT(ErrorOf({.receive_buffer_bytes = asked}),
              HasSubstr("raise net.core.rmem_max"));
  // And one that it enlarges.
  EXPECT_THAT(ErrorOf({.receive_buffer_bytes = 1}),
              HasSubstr("receive_buffer_bytes cannot be 1"));
}

TEST(NetworkSettingsTest, UnixSocketsHaveASendBufferOnly) {
  EXPECT_EQ(ErrorOf({.send_buffer_bytes = 50'000}, AF_UNIX), "");
  EXPECT_THAT(ErrorOf({.dscp = 10}, AF_UNIX),
              HasSubstr("dscp has no effect on Unix sockets; remove it"));
  EXPECT_THAT(ErrorOf({.mptcp = true}, AF_UNIX), HasSubstr("mptcp has no"));
  EXPECT_THAT(ErrorOf({.requires_ecn = true}, AF_UNIX),
              HasSubstr("ecn has no"));
}

// ---- Connections of drivers -------------------------------------------------

ConnectionSecurity With(const NetworkSettings& client,
                        const NetworkSettings& server) {
  return {.network = std::make_shared<DriverNetwork>(client, server)};
}

std::unique_ptr<TcpDriver> MakeDriver(const ConnectionSecurity& security,
                                      int64_t connections = 1) {
  return std::make_unique<TcpDriver>(
      ReadTcpSettings({.client_settings = {{"connections", connections}}}),
      AddressPreference{}, "127.0.0.1", security);
}

TEST(NetworkOfDriverTest, BothEndsOfAllConnectionsAreReadBack) {
  const ConnectionSecurity of_server = With({}, Everything());
  const ConnectionSecurity of_client = With(Everything(), {});
  const TestServer server([&] { return MakeDriver(of_server); });
  TestClient client(MakeDriver(of_client, 3),
                    SingleServers({server.address()}));
  ClientCall call = {.request_bytes = 16, .response_bytes = 16};
  EXPECT_EQ(client.Call(call), "");
  client.Shutdown();

  const auto made = client.driver().NetworkReadings();
  ASSERT_THAT(made, SizeIs(1));
  EXPECT_FALSE(made[0].accepted);
  EXPECT_EQ(made[0].connection_count, 3);
  EXPECT_EQ(made[0].settings, EverythingFound());
  const auto accepted = of_server.network->Readings();
  ASSERT_THAT(accepted, SizeIs(1));
  EXPECT_TRUE(accepted[0].accepted);
  EXPECT_EQ(accepted[0].connection_count, 3);
  EXPECT_EQ(accepted[0].settings, EverythingFound());
}

TEST(NetworkOfDriverTest, WhatCannotBeSetFailsBeforeAnyoneCanConnect) {
  const NetworkSettings wrong = {.congestion_control = "no_such"};
  EXPECT_THAT(
      std::string(MakeDriver(With(wrong, {}))->Listen(1).status().message()),
      HasSubstr("client_settings: the setting congestion_control"));
  EXPECT_THAT(
      std::string(MakeDriver(With({}, wrong))->Listen(1).status().message()),
      HasSubstr("server_settings: the setting congestion_control"));
}

TEST(NetworkOfDriverTest, ZeroCopyIsRefusedWithTls) {
  const security::TestAuthority authority("authority");
  ConnectionSecurity security = With({.zero_copy = true}, {});
  security.tls =
      security::TlsContext::Make(authority.IssueForLocalhost("node")).value();
  EXPECT_THAT(std::string(MakeDriver(security)->Listen(1).status().message()),
              HasSubstr("client_settings: zero_copy has no effect with TLS"));
}

TEST(NetworkOfDriverTest, AConnectionWithoutRequiredEcnIsRefused) {
  if (NumberIn("/proc/sys/net/ipv4/tcp_ecn") != 2) {
    GTEST_SKIP() << "this host asks for ECN, or refuses it";
  }
  const TestServer server([] { return MakeDriver({}); });
  const auto driver = MakeDriver(With({.requires_ecn = true}, {}));
  ASSERT_TRUE(driver->Listen(1).ok());
  const absl::Status status = driver->Connect(SingleServers({server.address()}),
                                              absl::Now() + absl::Seconds(20));
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("ECN was not negotiated"),
                    HasSubstr("set net.ipv4.tcp_ecn to 1")));
  EXPECT_THAT(driver->NetworkReadings(), IsEmpty());
}

// Returns what a client that asks for MPTCP finds.
std::string MptcpWith(const NetworkSettings& of_server) {
  const TestServer server([&] { return MakeDriver(With({}, of_server)); });
  TestClient client(MakeDriver(With({.mptcp = true}, {})),
                    SingleServers({server.address()}));
  ClientCall call = {.request_bytes = 16, .response_bytes = 100'000};
  EXPECT_EQ(client.Call(call), "");
  EXPECT_EQ(call.received_bytes, 100'000);
  client.Shutdown();
  const auto readings = client.driver().NetworkReadings();
  return readings.empty() ? "" : readings[0].settings[0].found;
}

TEST(NetworkOfDriverTest, MptcpFallsBackIfTheServerHasNone) {
  if (!HasMptcp()) GTEST_SKIP() << "this kernel has no MPTCP";
  EXPECT_EQ(MptcpWith({.mptcp = true}), "on");
  EXPECT_EQ(MptcpWith({}), "fell back to TCP");
}

int64_t CounterOf(const ProtocolDriver& driver, absl::string_view name) {
  for (const DriverCounter& counter : driver.Counters()) {
    if (counter.name == name) return counter.value;
  }
  return 0;
}

TEST(NetworkOfDriverTest, LargePayloadsAreSentWithoutCopyAndArriveWhole) {
  const NetworkSettings settings = {.zero_copy = true};
  const TestServer server([&] { return MakeDriver(With(settings, settings)); });
  TestClient client(MakeDriver(With(settings, settings)),
                    SingleServers({server.address()}));
  TestEvents& events = client.events();
  // Of less than is worth it, and of more than the payload slab.
  const int64_t sizes[] = {100, 100'000, (3 << 20) + 7};
  std::vector<ClientCall> calls(24);
  for (size_t i = 0; i < calls.size(); ++i) {
    ClientCall& call = calls[i];
    call.request_bytes = call.response_bytes = sizes[i % 3];
    ASSERT_TRUE(
        events.PollUntil([&] { return client.transport().Start(&call); }));
  }
  ASSERT_TRUE(events.PollUntil(
      [&] { return events.finished_count() == calls.size(); }));
  for (const ClientCall& call : calls) {
    EXPECT_EQ(events.error(call), "");
    EXPECT_EQ(call.received_bytes, call.response_bytes);
  }
  // The kernel reports a send some time after it.
  const ProtocolDriver& driver = client.driver();
  EXPECT_TRUE(events.PollUntil(
      [&] { return CounterOf(driver, "zero_copy_sends") >= 16; }));
  EXPECT_EQ(CounterOf(driver, "zero_copy_copied"),
            CounterOf(driver, "zero_copy_sends"))
      << "loopback always copies";
  EXPECT_EQ(CounterOf(driver, "connections_lost_socket_failed"), 0);
  client.Shutdown();
}

}  // namespace
}  // namespace distbench::protocol
