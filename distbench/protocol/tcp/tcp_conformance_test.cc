#include <cstdint>
#include <vector>

#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/tcp_driver.h"
#include "distbench/protocol/tcp/testing/connection_variants.h"
#include "distbench/protocol/testing/driver_conformance.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "distbench/protocol/testing/time_parts_conformance.h"
#include "distbench/protocol/unix_address.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

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
