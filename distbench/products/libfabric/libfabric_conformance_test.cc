#include <cstdint>
#include <memory>
#include <string>

#include "distbench/products/libfabric/declaration.h"
#include "distbench/products/libfabric/libfabric_driver.h"
#include "distbench/products/libfabric/settings.h"
#include "distbench/protocol/testing/driver_conformance.h"
#include "distbench/protocol/testing/time_parts_conformance.h"

namespace distbench::libfabric {
namespace {

using protocol::DriverConformanceTest;
using protocol::TimePartsConformanceTest;

struct Variant {
  std::string provider;
  int64_t receive_buffer_bytes = 64 << 10;
  int64_t spin_us = 0;
  bool measures_time_parts = false;
  std::string endpoint = kRdmEndpoint;
};

protocol::DriverUnderTest MakeVariant(const Variant& variant) {
  return {[variant](const std::string& test_nonce) {
    config::DriverOptions options;
    options.server_settings["provider"] = variant.provider;
    options.server_settings["endpoint"] = variant.endpoint;
    options.server_settings["receive_buffer_bytes"] =
        variant.receive_buffer_bytes;
    options.client_settings["spin_us"] = variant.spin_us;
    LibfabricSettings settings = ReadLibfabricSettings(options);
    settings.measures_time_parts = variant.measures_time_parts;
    return std::make_unique<LibfabricDriver>(
        settings, protocol::AddressPreference{}, "127.0.0.1", test_nonce);
  }};
}

INSTANTIATE_TEST_SUITE_P(Tcp, DriverConformanceTest,
                         testing::Values(MakeVariant({"tcp"})));
INSTANTIATE_TEST_SUITE_P(SmallBuffers, DriverConformanceTest,
                         testing::Values(MakeVariant({"tcp;ofi_rxm", 4096})));
INSTANTIATE_TEST_SUITE_P(Spinning, DriverConformanceTest,
                         testing::Values(MakeVariant({"tcp", 64 << 10, 100})));
INSTANTIATE_TEST_SUITE_P(Connected, DriverConformanceTest,
                         testing::Values(MakeVariant({.provider = "tcp",
                                                      .endpoint = "msg"})));
INSTANTIATE_TEST_SUITE_P(Timed, TimePartsConformanceTest,
                         testing::Values(MakeVariant({"tcp", 64 << 10, 0,
                                                      true})));

}  // namespace
}  // namespace distbench::libfabric
