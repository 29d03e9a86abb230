#include "distbench/products/http2/declaration.h"

#include <string>
#include <vector>

#include "distbench/config/catalogs/driver_settings.h"
#include "optional_libraries.h"

namespace distbench::http2 {
namespace {

using Settings = std::vector<config::SettingDeclaration>;

// Of the side that receives messages of this kind.
Settings Windows(const std::string& message) {
  return {
      config::LimitedSetting(
          kStreamWindow,
          "Bytes of a " + message +
              " that its sender may send before it hears that they have been "
              "read (HTTP/2's initial window size)."),
      config::LimitedSetting(
          kConnectionWindow,
          "Same, for all " + message + "s of a connection together.")};
}

Settings OfServer() {
  Settings settings = Windows("request");
  settings.insert(
      settings.begin(),
      config::LimitedSetting(kMaxStreams,
                             "Requests that may be in flight on a connection; "
                             "further ones wait at the client."));
  return settings;
}

}  // namespace

config::DriverDeclaration Declaration() {
  config::DriverDeclaration driver = config::DriverOverConnections(
      "http2",
      "gRPC's wire format over HTTP/2 without gRPC, to show what of gRPC's "
      "cost is HTTP/2's.",
      Windows("response"), OfServer());
  driver.built_in = DISTBENCH_HAS_NGHTTP2 == 1;
  driver.package = "libnghttp2-dev";
  return driver;
}

}  // namespace distbench::http2
