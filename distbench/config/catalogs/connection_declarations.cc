#include <string>
#include <utility>
#include <vector>

#include "distbench/config/catalogs/driver_declarations.h"
#include "distbench/config/catalogs/driver_settings.h"
#include "distbench/config/catalogs/network_settings.h"
#include "optional_libraries.h"

namespace distbench::config {
namespace {

using Settings = std::vector<SettingDeclaration>;

Settings Joined(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// A driver over TCP connections, with its own settings after those that all
// have.
DriverDeclaration OverConnections(const std::string& name,
                                  const std::string& description,
                                  const Settings& of_client,
                                  const Settings& of_server) {
  return {
      .name = name,
      .description = description,
      .cancels_calls = true,
      .breaks_connections = true,
      .client_settings = WithNetworkSettings(
          {.settings = Joined(
               {LimitedSetting(kTcpConnections,
                               "Connections from each worker of a client to "
                               "each server, used in turn."),
                LimitedSetting(kCallsPerConnection,
                               "Calls after which a connection is closed and "
                               "another one made; 0 is never, 1 a connection "
                               "for each call. The time to connect is part of "
                               "the latency of a connection's first call."),
                LimitedSetting(kTcpSendQueueBytes,
                               "Bytes that may wait to be written to a "
                               "connection before requests are held back."),
                SpinUs()},
               of_client)},
          NetworkSide::kClient),
      .server_settings = WithNetworkSettings(
          {.settings = Joined({Transport(), SpinUs()}, of_server)},
          NetworkSide::kServer),
      .channel_settings = ChannelSettings(),
  };
}

// Of the side that receives messages of this kind.
Settings Http2Windows(const std::string& message) {
  return {LimitedSetting(kHttp2StreamWindow,
                         "Bytes of a " + message +
                             " that its sender may send before it hears that "
                             "they have been read (HTTP/2's initial window "
                             "size)."),
          LimitedSetting(
              kHttp2ConnectionWindow,
              "Same, for all " + message + "s of a connection together.")};
}

}  // namespace

DriverDeclaration Http2Declaration() {
  DriverDeclaration driver = OverConnections(
      "http2",
      "gRPC's wire format over HTTP/2 without gRPC, to show what of gRPC's "
      "cost "
      "is HTTP/2's.",
      Http2Windows("response"),
      Joined({LimitedSetting(kHttp2MaxStreams,
                             "Requests that may be in flight on a connection; "
                             "further ones wait at the client.")},
             Http2Windows("request")));
  driver.built_in = DISTBENCH_HAS_NGHTTP2 == 1;
  driver.package = "libnghttp2-dev";
  return driver;
}

DriverDeclaration TcpDeclaration() {
  return OverConnections(
      "tcp",
      "RPCs in frames over plain TCP connections, to show what a machine can "
      "do "
      "without an RPC stack.",
      {LimitedSetting(kTcpMaxBatch,
                      "Maximum number of requests gathered before they are "
                      "written to a connection; those of one turn of the "
                      "worker's loop share a write. With 1, each is written at "
                      "once."),
       ZeroCopySetting()},
      {LimitedSetting(kTcpMaxBatch, "Same, for replies."), ZeroCopySetting()});
}

DriverDeclaration ThriftDeclaration() {
  return OverConnections("thrift",
                         "Thrift's framed transport and strict binary "
                         "protocol, with any number of "
                         "calls in flight on a connection.",
                         {}, {});
}

}  // namespace distbench::config
