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

using test_builder::IntegerParameter;
using Sides = test_builder::SettingParameter::Sides;

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

const base::Plugin<test_builder::Protocol> kProtocol(
    "http2",
    new test_builder::Protocol(test_builder::PlainProtocol(
        "http2", "gRPC's wire format over HTTP/2, without gRPC",
        test_builder::SettingsOverConnections(
            "HTTP/2",
            {{IntegerParameter("stream_window_bytes", "", {65'535},
                               "Bytes of a message that may be sent before the "
                               "receiver has said that it reads them. Default: "
                               "1 MiB."),
              Sides::kBoth, "window"},
             {IntegerParameter("max_concurrent_streams", "", {1},
                               "Requests that may be in flight on a "
                               "connection. Default: 65536."),
              Sides::kServer, "streams"},
             test_builder::SpinSetting()}))));

}  // namespace
}  // namespace distbench::http2
