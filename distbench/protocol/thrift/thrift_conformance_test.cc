#include <cstdint>
#include <memory>
#include <string>

#include "distbench/protocol/tcp/driver_network.h"
#include "distbench/protocol/tcp/network_settings.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/testing/driver_conformance.h"
#include "distbench/protocol/testing/time_parts_conformance.h"
#include "distbench/protocol/thrift/thrift_driver.h"
#include "distbench/security/testing/testing_certificates.h"
#include "distbench/security/tls_session.h"

namespace distbench {
namespace {

struct Variant {
  int64_t connections = 1;
  int64_t spin_us = 0;
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
    options.client_settings["spin_us"] = variant.spin_us;
    options.server_settings["transport"] = variant.transport;
    ConnectionSecurity security = {.test_nonce = test_nonce,
                                   .network = std::make_shared<DriverNetwork>(
                                       variant.network, variant.network)};
    if (variant.uses_tls) security.tls = SharedTls();
    TcpSettings settings = ReadTcpSettings(options);
    settings.measures_time_parts = variant.measures_time_parts;
    return std::make_unique<ThriftDriver>(settings, AddressPreference{},
                                          "127.0.0.1", security);
  }};
}

INSTANTIATE_TEST_SUITE_P(Plain, DriverConformanceTest,
                         testing::Values(MakeVariant({})));
INSTANTIATE_TEST_SUITE_P(ManyTlsConnections, DriverConformanceTest,
                         testing::Values(MakeVariant({3, 100, true})));
INSTANTIATE_TEST_SUITE_P(UnixSocket, DriverConformanceTest,
                         testing::Values(MakeVariant({.transport = "unix"})));
INSTANTIATE_TEST_SUITE_P(NetworkSettings, DriverConformanceTest,
                         testing::Values(MakeVariant(
                             {.network = {.congestion_control = "reno",
                                          .dscp = 46,
                                          .send_buffer_bytes = 20'000,
                                          .receive_buffer_bytes = 20'000}})));
INSTANTIATE_TEST_SUITE_P(
    LimitedConnections, DriverConformanceTest,
    testing::Values(MakeVariant(
        {.connections = 2, .transport = "unix", .calls_per_connection = 20})));
INSTANTIATE_TEST_SUITE_P(
    ACallPerConnection, CallsPerConnectionTest,
    testing::Values(MakeVariant({.calls_per_connection = 1}),
                    MakeVariant({.connections = 2,
                                 .uses_tls = true,
                                 .calls_per_connection = 1})));
INSTANTIATE_TEST_SUITE_P(Timed, TimePartsConformanceTest,
                         testing::Values(MakeVariant({1, 0, false, true}),
                                         MakeVariant({3, 0, true, true})));

}  // namespace
}  // namespace distbench
