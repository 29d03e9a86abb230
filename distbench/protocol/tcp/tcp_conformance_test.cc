#include <cstdint>
#include <memory>
#include <string>

#include "distbench/protocol/tcp/driver_network.h"
#include "distbench/protocol/tcp/network_settings.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/tcp_driver.h"
#include "distbench/protocol/testing/driver_conformance.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "distbench/protocol/testing/time_parts_conformance.h"
#include "distbench/protocol/unix_address.h"
#include "distbench/security/testing/testing_certificates.h"
#include "distbench/security/tls_session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

struct Variant {
  int64_t connections;
  int64_t max_batch;
  int64_t spin_us;
  bool uses_tls = false;
  bool measures_time_parts = false;
  std::string transport = "tcp";
  NetworkSettings network = {};  // of both sides
  int64_t calls_per_connection = 0;
};

// Certificates for all drivers of a test.
std::shared_ptr<TlsContext> SharedTls() {
  static const auto* const authority = new TestAuthority("authority");
  static const auto* const context = new std::shared_ptr<TlsContext>(
      TlsContext::Make(authority->IssueForLocalhost("node")).value());
  return *context;
}

DriverUnderTest MakeVariant(const Variant& variant) {
  return {[variant](const std::string& test_nonce) {
    DriverOptions options;
    options.client_settings["connections"] = variant.connections;
    options.client_settings["calls_per_connection"] =
        variant.calls_per_connection;
    options.client_settings["max_batch"] = variant.max_batch;
    options.server_settings["max_batch"] = variant.max_batch;
    options.client_settings["spin_us"] = variant.spin_us;
    options.server_settings["transport"] = variant.transport;
    ConnectionSecurity security = {.test_nonce = test_nonce,
                                   .network = std::make_shared<DriverNetwork>(
                                       variant.network, variant.network)};
    if (variant.uses_tls) security.tls = SharedTls();
    TcpSettings settings = ReadTcpSettings(options);
    settings.measures_time_parts = variant.measures_time_parts;
    return std::make_unique<TcpDriver>(settings, AddressPreference{},
                                       "127.0.0.1", security);
  }};
}

INSTANTIATE_TEST_SUITE_P(Coalescing, DriverConformanceTest,
                         testing::Values(MakeVariant({1, 64, 0})));
INSTANTIATE_TEST_SUITE_P(Spinning, DriverConformanceTest,
                         testing::Values(MakeVariant({1, 64, 100})));
INSTANTIATE_TEST_SUITE_P(Tls, DriverConformanceTest,
                         testing::Values(MakeVariant({1, 64, 0, true})));
INSTANTIATE_TEST_SUITE_P(ManyTlsConnections, DriverConformanceTest,
                         testing::Values(MakeVariant({3, 1, 0, true})));
INSTANTIATE_TEST_SUITE_P(ManyConnections, DriverConformanceTest,
                         testing::Values(MakeVariant({3, 1, 0})));
INSTANTIATE_TEST_SUITE_P(UnixSocket, DriverConformanceTest,
                         testing::Values(MakeVariant({.connections = 1,
                                                      .max_batch = 64,
                                                      .spin_us = 0,
                                                      .transport = "unix"})));
INSTANTIATE_TEST_SUITE_P(
    NetworkSettings, DriverConformanceTest,
    testing::Values(MakeVariant(
        {.connections = 2,
         .max_batch = 64,
         .spin_us = 0,
         .network = {.congestion_control = "reno",
                     .dscp = 46,
                     .send_buffer_bytes = 20'000,
                     .receive_buffer_bytes = 20'000,
                     .no_delay = false,
                     .zero_copy = true,
                     .busy_poll_us = 0,
                     .max_pacing_bytes_per_second = int64_t{4} << 30}})));
INSTANTIATE_TEST_SUITE_P(
    LimitedConnections, DriverConformanceTest,
    testing::Values(MakeVariant({.connections = 2,
                                 .max_batch = 64,
                                 .spin_us = 0,
                                 .transport = "unix",
                                 .calls_per_connection = 20})));
INSTANTIATE_TEST_SUITE_P(
    ACallPerConnection, CallsPerConnectionTest,
    testing::Values(MakeVariant({.connections = 1,
                                 .max_batch = 64,
                                 .spin_us = 0,
                                 .calls_per_connection = 1}),
                    MakeVariant({.connections = 2,
                                 .max_batch = 1,
                                 .spin_us = 0,
                                 .uses_tls = true,
                                 .calls_per_connection = 1}),
                    MakeVariant({.connections = 1,
                                 .max_batch = 64,
                                 .spin_us = 0,
                                 .network = {.zero_copy = true},
                                 .calls_per_connection = 1})));
INSTANTIATE_TEST_SUITE_P(Timed, TimePartsConformanceTest,
                         testing::Values(MakeVariant({1, 64, 0, false, true}),
                                         MakeVariant({3, 1, 0, true, true})));

// Without that, the suite UnixSocket would test TCP.
TEST(UnixSocketTest, IsUsed) {
  const DriverUnderTest driver = MakeVariant(
      {.connections = 1, .max_batch = 64, .spin_us = 0, .transport = "unix"});
  const TestServer server([&] { return driver.make_for_test("nonce"); });
  EXPECT_THAT(server.address(), testing::StartsWith(kUnixScheme));
}

}  // namespace
}  // namespace distbench
