// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/tcp_driver.h"

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/testing/scarce_files.h"
#include "distbench/protocol/addresses.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/testing/connection_variants.h"
#include "distbench/protocol/tcp/testing/raw_peer.h"
#include "distbench/protocol/testing/driver_conformance.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {

// Tests how a tcp client connects, and what it says if it cannot.

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

absl::Status ConnectTo(const std::string& address) {
  TcpDriver driver(ReadTcpSettings({}), {}, "127.0.0.1");
  EXPECT_TRUE(driver.Listen(1).ok());
  return driver.Connect(SingleServers({address}),
                        absl::Now() + absl::Seconds(20));
}

TEST(TcpConnectTest, ServersOfAnotherKindAreNamed) {
  RawListener listener;
  std::thread server([&] {
    RawConnection connection = listener.Accept();
    connection.Send("220 mail.example.org ready\r\n");
    EXPECT_TRUE(connection.PeerCloses());
  });
  const absl::Status status = ConnectTo(listener.address());
  server.join();
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(listener.address()),
                    HasSubstr("not a tcp driver of distbench")));
}

TEST(TcpConnectTest, ServersOfAnotherVersionAreNamed) {
  RawListener listener;
  std::thread server([&] {
    RawConnection connection = listener.Accept();
    std::string hello = HelloBytes();
    hello[8] = 99;
    connection.Send(hello);
    EXPECT_TRUE(connection.PeerCloses());
  });
  const absl::Status status = ConnectTo(listener.address());
  server.join();
  EXPECT_THAT(std::string(status.message()), HasSubstr("another version"));
}

TEST(TcpConnectTest, AddressesThatAreNoneAreNamed) {
  for (const char* address : {"nonsense", ":17", "1.2.3.4:http:x"}) {
    EXPECT_THAT(std::string(ConnectTo(address).message()), HasSubstr(address));
  }
}

TEST(TcpConnectTest, ConnectToAPeerThatIsSilentCanBeAborted) {
  const RawListener listener;
  TcpDriver driver(ReadTcpSettings({}), AddressPreference{}, "127.0.0.1");
  ASSERT_TRUE(driver.Listen(1).ok());
  // The listener's queue takes the connection, but nobody says hello.
  std::thread aborter([&] { driver.AbortConnect(); });
  EXPECT_EQ(
      driver
          .Connect(SingleServers({listener.address()}), absl::InfiniteFuture())
          .code(),
      absl::StatusCode::kCancelled);
  aborter.join();
}

TEST(TcpConnectTest, SaysThatThereAreNoFilesLeftForConnections) {
  const RawListener listener;
  const auto addresses = ResolveAddress(listener.address());
  ASSERT_TRUE(addresses.ok()) << addresses.status();
  const ConnectionSecurity security;
  Dial dial(security);
  {
    const base::ScarceFiles no_files;
    EXPECT_EQ(dial.Connect(addresses->front()), Dial::State::kFailed);
  }
  EXPECT_THAT(dial.error(),
              AllOf(HasSubstr("Too many open files"), HasSubstr("ulimit -n")));
}

std::vector<DriverUnderTest> Drivers(
    const std::vector<ConnectionVariant>& variants) {
  return DriversOf<TcpDriver, ReadTcpSettings>(variants);
}

INSTANTIATE_TEST_SUITE_P(Usual, DriverConformanceTest,
                         testing::ValuesIn(Drivers(UsualVariants())),
                         NameOfDriver);
INSTANTIATE_TEST_SUITE_P(ACallPerConnection, CallsPerConnectionTest,
                         testing::ValuesIn(Drivers(OneCallVariants())),
                         NameOfDriver);
INSTANTIATE_TEST_SUITE_P(Timed, TimePartsConformanceTest,
                         testing::ValuesIn(Drivers(TimedVariants())),
                         NameOfDriver);
INSTANTIATE_TEST_SUITE_P(
    Own, DriverConformanceTest,
    testing::ValuesIn(Drivers({
        {.name = "Spinning", .settings = {{"spin_us", int64_t{100}}}},
        {.name = "Unbatched",
         .connections = 3,
         .settings = {{"max_batch", int64_t{1}}}},
        {.name = "UnbatchedTls",
         .connections = 3,
         .uses_tls = true,
         .settings = {{"max_batch", int64_t{1}}}},
        {.name = "AllNetworkSettings",
         .connections = 2,
         .network = {.congestion_control = "reno",
                     .dscp = 46,
                     .send_buffer_bytes = 20'000,
                     .receive_buffer_bytes = 20'000,
                     .no_delay = false,
                     .zero_copy = true,
                     .busy_poll_us = 0,
                     .max_pacing_bytes_per_second = int64_t{4} << 30}},
    })),
    NameOfDriver);
INSTANTIATE_TEST_SUITE_P(
    OwnCallPerConnection, CallsPerConnectionTest,
    testing::ValuesIn(Drivers({{.name = "ZeroCopy",
                                .network = {.zero_copy = true},
                                .calls_per_connection = 1}})),
    NameOfDriver);

// Without that, the variant UnixSocket would test TCP.
TEST(UnixSocketTest, IsUsed) {
  const DriverUnderTest driver = Drivers({{.transport = "unix"}}).front();
  const TestServer server([&] { return driver.make(); });
  EXPECT_THAT(server.address(), testing::StartsWith(kUnixScheme));
}

}  // namespace
}  // namespace distbench::protocol
