// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string>

#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/addresses.h"
#include "distbench/protocol/driver_environment.h"
#include "distbench/protocol/grpc/grpc_driver.h"
#include "distbench/protocol/testing/driver_conformance.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "distbench/protocol/testing/streaming_conformance.h"
#include "distbench/security/credentials.h"
#include "distbench/security/testing/testing_certificates.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

struct Variant {
  std::string client_type = "polling";
  std::string server_type = "inline";
  bool uses_tls = false;
  bool measures_time_parts = false;
  std::string transport = "tcp";
  int64_t calls_per_connection = 0;
};

// Certificates shared by all drivers of a test.
std::shared_ptr<const security::TlsCredentials> SharedTls() {
  static const auto* const authority = new security::TestAuthority("authority");
  static const auto* const credentials =
      new std::shared_ptr<const security::TlsCredentials>(
          security::TlsCredentials::Load(authority->IssueForLocalhost("node"),
                                         security::TlsRole::kNode)
              .value());
  return *credentials;
}

DriverUnderTest MakeVariant(const Variant& variant) {
  const auto make = [variant](const std::string& test_nonce) {
    config::DriverOptions options;
    options.client_settings["client_type"] = variant.client_type;
    options.client_settings["calls_per_connection"] =
        variant.calls_per_connection;
    options.server_settings["server_type"] = variant.server_type;
    options.server_settings["threadpool_size"] = 64;
    options.server_settings["transport"] = variant.transport;
    DriverEnvironment environment = {
        .service_address = "127.0.0.1",
        .test_nonce = test_nonce,
        .measures_time_parts = variant.measures_time_parts};
    if (variant.uses_tls) environment.tls = SharedTls();
    return MakeGrpcDriver(options, environment).value();
  };
  return {.make_for_test = make, .judges_deadlines = false};
}

// Streams to each server, and messages until one is replaced.
struct StreamVariant {
  int64_t streams;
  int64_t messages_per_stream;
  std::string transport = "tcp";
  bool uses_tls = false;
  bool measures_time_parts = false;
};

DriverUnderTest MakeStreams(const StreamVariant& variant) {
  const auto make = [variant](const std::string& test_nonce) {
    config::DriverOptions options;
    options.client_settings["streams"] = variant.streams;
    options.client_settings["messages_per_stream"] =
        variant.messages_per_stream;
    options.server_settings["transport"] = variant.transport;
    DriverEnvironment environment = {
        .service_address = "127.0.0.1",
        .test_nonce = test_nonce,
        .measures_time_parts = variant.measures_time_parts};
    if (variant.uses_tls) environment.tls = SharedTls();
    return MakeGrpcStreamDriver(options, environment).value();
  };
  return {.make_for_test = make, .has_channels = false};
}

INSTANTIATE_TEST_SUITE_P(Plain, DriverConformanceTest,
                         testing::Values(MakeVariant({"polling", "inline"}),
                                         MakeVariant({"callback", "handoff"})));
INSTANTIATE_TEST_SUITE_P(
    Tls, DriverConformanceTest,
    testing::Values(MakeVariant({"polling", "inline", true}),
                    MakeVariant({"callback", "handoff", true})));
INSTANTIATE_TEST_SUITE_P(UnixSockets, DriverConformanceTest,
                         testing::Values(MakeVariant({.transport = "unix"}),
                                         MakeStreams({1, 0, "unix"})));
INSTANTIATE_TEST_SUITE_P(
    ACallPerConnection, CallsPerConnectionTest,
    testing::Values(MakeVariant({.calls_per_connection = 1}),
                    MakeVariant({.client_type = "callback",
                                 .server_type = "handoff",
                                 .calls_per_connection = 1}),
                    MakeVariant({.uses_tls = true,
                                 .calls_per_connection = 1})));
INSTANTIATE_TEST_SUITE_P(Streams, DriverConformanceTest,
                         testing::Values(MakeStreams({1, 0}),
                                         MakeStreams({3, 2}),
                                         MakeStreams({1, 1}),
                                         MakeStreams({2, 0, "tcp", true})));
INSTANTIATE_TEST_SUITE_P(Streams, StreamingConformanceTest,
                         testing::Values(MakeStreams({1, 0}),
                                         MakeStreams({2, 0, "tcp", true}),
                                         MakeStreams({1, 0, "unix"})));
INSTANTIATE_TEST_SUITE_P(Plain, StreamingConformanceTest,
                         testing::Values(MakeVariant({"polling", "inline"}),
                                         MakeVariant({"polling", "inline",
                                                      true})));
INSTANTIATE_TEST_SUITE_P(TimedStreams, TimePartsConformanceTest,
                         testing::Values(MakeStreams({1, 0, "tcp", false,
                                                      true})));
INSTANTIATE_TEST_SUITE_P(
    Timed, TimePartsConformanceTest,
    testing::Values(MakeVariant({"polling", "inline", false, true}),
                    MakeVariant({"callback", "polling", false, true}),
                    MakeVariant({"polling", "handoff", false, true})));

// Without that, the suite UnixSockets would test TCP.
TEST(UnixSocketsTest, AreUsed) {
  for (const DriverUnderTest& driver :
       {MakeVariant({.transport = "unix"}), MakeStreams({1, 0, "unix"})}) {
    const TestServer server([&] { return driver.make_for_test("nonce"); });
    EXPECT_THAT(server.address(), testing::StartsWith(kUnixScheme));
  }
}

}  // namespace
}  // namespace distbench::protocol
