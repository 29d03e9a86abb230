// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program. The driver itself is left out of
// builds without nghttp2.

#include "distbench/base/plugins.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/products/http2/declaration.h"
#include "optional_libraries.h"
#include "test_builder/protocols/protocol.h"

#if DISTBENCH_HAS_NGHTTP2
#include <memory>

#include "absl/status/statusor.h"
#include "distbench/products/http2/http2_driver.h"
#include "distbench/products/http2/settings.h"
#include "distbench/protocol/registry/registry.h"
#include "distbench/protocol/tcp/stream_driver.h"
#endif

namespace distbench::http2 {
namespace {

const base::Plugin<base::Product> kProduct("http2", new base::Product{
                                                        "The driver http2"});

#if DISTBENCH_HAS_NGHTTP2
absl::StatusOr<std::unique_ptr<protocol::ProtocolDriver>> Make(
    const config::DriverOptions& options,
    const protocol::DriverEnvironment& environment) {
  return protocol::MakeStreamDriver<Http2Driver>(
      ReadHttp2Settings(options), kHttp2Alpn, options, environment);
}

const protocol::DriverPlugin kDriver(Declaration(), {Make});
#else
const base::Plugin<config::DriverDeclaration> kDeclaration(
    "http2", new config::DriverDeclaration(Declaration()));
#endif

const base::Plugin<test_builder::ProtocolText> kProtocol(
    "http2", new test_builder::ProtocolText{
                 R"pb(
                   name: "http2"
                   summary: "gRPC's wire format over HTTP/2, without gRPC"
                   settings { name: "stream_window_bytes" word: "window" }
                   settings { name: "max_concurrent_streams" word: "streams" }
                   settings { name: "spin_us" word: "spin" only_server: true }
                   over_connections: true)pb"});

}  // namespace
}  // namespace distbench::http2
