#include <cstdint>
#include <memory>

#include "distbench/protocol/driver_conformance.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/tcp_driver.h"

namespace distbench {
namespace {

struct Variant {
  int64_t connections;
  int64_t max_batch;
  int64_t spin_us;
};

DriverUnderTest MakeVariant(const Variant& variant) {
  return {[variant] {
    DriverOptions options;
    options.client_settings["connections"] = variant.connections;
    options.client_settings["max_batch"] = variant.max_batch;
    options.server_settings["max_batch"] = variant.max_batch;
    options.client_settings["spin_us"] = variant.spin_us;
    return std::make_unique<TcpDriver>(ReadTcpSettings(options),
                                       AddressPreference{}, "127.0.0.1");
  }};
}

INSTANTIATE_TEST_SUITE_P(Coalescing, DriverConformanceTest,
                         testing::Values(MakeVariant({1, 64, 0})));
INSTANTIATE_TEST_SUITE_P(Spinning, DriverConformanceTest,
                         testing::Values(MakeVariant({1, 64, 100})));
INSTANTIATE_TEST_SUITE_P(ManyConnections, DriverConformanceTest,
                         testing::Values(MakeVariant({3, 1, 0})));

}  // namespace
}  // namespace distbench
