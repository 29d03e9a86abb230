#include "distbench/config/catalogs/driver_catalog.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "distbench/config/catalogs/network_settings.h"
#include "distbench/config/plan/driver_options.h"
#include "optional_libraries.h"

namespace distbench {
namespace {

constexpr int64_t kMaxPoolThreads = 10'000;
constexpr int64_t kMaxSpinUs = 1'000'000;
constexpr int64_t kMaxGrpcChannels = 1024;

SettingDeclaration SpinUs() {
  return {
      .name = "spin_us",
      .description =
          "How long a worker with nothing to do keeps polling before it "
          "sleeps, in microseconds. Spinning answers sooner and costs CPU. The "
          "larger of the client's and the server's value counts, because one "
          "worker serves both. -1: 50 if the instance has fewer workers than "
          "its share of the "
          "host's CPUs, else 0.",
      .default_value = kSpinByCpus,
      .minimum = kSpinByCpus,
      .maximum = kMaxSpinUs,
  };
}

// Why other drivers do not have the setting.
std::map<std::string, std::string> NoCallsPerConnection(
    const std::string& reason) {
  return {{kCallsPerConnection.name,
           reason + "; use the driver \"capnp\", \"grpc\", \"http2\", "
                    "\"tcp\" or \"thrift\""}};
}

SettingDeclaration Transport() {
  return {
      .name = kTransportSetting,
      .description =
          "What carries the RPCs: \"tcp\", or \"unix\" for a Unix socket, "
          "which reaches instances on the same host only and has no TLS.",
      .default_value = kTcpTransport,
      .allowed_values = {kTcpTransport, kUnixTransport},
  };
}

// gRPC allocates this many entries for each connection, and aborts the process
// if the allocation fails.
std::map<std::string, int64_t> ChannelArgumentMaxima() {
  return {{"grpc.experimental.tcp_tx_zerocopy_max_simultaneous_sends", 10'000}};
}

SettingsDeclaration GrpcClientSettings(const std::string& default_type) {
  return {
      .settings =
          {
              {
                  .name = "client_type",
                  .description =
                      "How responses reach the client: \"polling\" by the "
                      "worker's own completion queue, \"callback\" by the "
                      "threads of gRPC's callback API.",
                  .default_value = default_type,
                  .allowed_values = {"polling", "callback"},
              },
              {
                  .name = "channels",
                  .description =
                      "Channels from each worker of a client to each server, "
                      "used in turn; each is a connection of its own.",
                  .default_value = int64_t{1},
                  .minimum = 1,
                  .maximum = kMaxGrpcChannels,
              },
              {
                  .name = kCallsPerConnection.name,
                  .description =
                      "Calls after which a channel is closed and another one "
                      "made, with its connection; 0 is never, 1 a channel for "
                      "each call. The time to connect is part of the latency "
                      "of a channel's first call.",
                  .default_value = kCallsPerConnection.default_value,
                  .minimum = kCallsPerConnection.minimum,
                  .maximum = kCallsPerConnection.maximum,
              },
              SpinUs(),
          },
      .pass_through_prefix = "grpc.",
      .pass_through_maxima = ChannelArgumentMaxima(),
      .refused = NetworkSettingsOfOthers("gRPC makes its own sockets"),
  };
}

SettingsDeclaration GrpcServerSettings(const std::string& default_type) {
  return {
      .settings =
          {
              {
                  .name = "server_type",
                  .description =
                      "Where requests are handled: \"inline\" by the worker "
                      "that polls for them, \"polling\" by a thread pool "
                      "behind "
                      "the worker's queue, \"handoff\" by a thread pool behind "
                      "gRPC's callback API.",
                  .default_value = default_type,
                  .allowed_values = {"inline", "handoff", "polling"},
              },
              {
                  .name = "threadpool_type",
                  .description =
                      "The pool of the server types that have one: \"elastic\" "
                      "(or empty) grows as needed, \"simple\" has a fixed "
                      "number of threads, \"null\" starts a thread per "
                      "request.",
                  .default_value = "",
                  .allowed_values = {"", "elastic", "simple", "null"},
              },
              {
                  .name = "threadpool_size",
                  .description =
                      "Threads of the pool, those to start with if it is "
                      "elastic; 0 is the number of CPUs.",
                  .default_value = int64_t{0},
                  .maximum = kMaxPoolThreads,
              },
              {
                  .name = "threadpool_use",
                  .description =
                      "Which requests go through the pool: \"nonempty\" those "
                      "whose action list is not empty, while the others are "
                      "answered where they arrive; \"all\" every request.",
                  .default_value = "nonempty",
                  .allowed_values = {"nonempty", "all"},
              },
              Transport(),
              SpinUs(),
          },
      .pass_through_prefix = "grpc.",
      .pass_through_maxima = ChannelArgumentMaxima(),
      .refused = NetworkSettingsOfOthers("gRPC makes its own sockets"),
  };
}

SettingsDeclaration ChannelSettings() {
  return {.settings = {{
              .name = kChannelPolicySetting,
              .description =
                  "The load-balancing policy: \"round_robin\" spreads RPCs "
                  "over all members, \"pick_first\" uses the first member that "
                  "can be reached.",
              .default_value = kRoundRobinPolicy,
              .allowed_values = {kRoundRobinPolicy, kPickFirstPolicy},
          }}};
}

DriverDeclaration Grpc(const std::string& name, const std::string& description,
                       const std::string& client_type,
                       const std::string& server_type) {
  return {
      .name = name,
      .description = description,
      .streams = true,
      .streaming_client_settings = {{"client_type", "polling"}},
      .streaming_server_settings = {{"server_type", "inline"}},
      .cancels_calls = true,
      .client_settings = GrpcClientSettings(client_type),
      .server_settings = GrpcServerSettings(server_type),
      .channel_settings = ChannelSettings(),
  };
}

DriverDeclaration GrpcAsyncCallback() {
  DriverDeclaration driver =
      Grpc("grpc_async_callback",
           "gRPC with client_type \"callback\" and server_type \"handoff\", "
           "unless the settings say otherwise.",
           "callback", "handoff");
  driver.alias_of = "grpc";
  driver.streams = false;  // by default
  return driver;
}

SettingsDeclaration GrpcStreamClientSettings() {
  std::map<std::string, std::string> refused =
      NetworkSettingsOfOthers("gRPC makes its own sockets");
  refused.merge(NoCallsPerConnection(
      "its streams share a connection, and messages_per_stream replaces them"));
  return {
      .settings =
          {
              {
                  .name = "streams",
                  .description =
                      "Streams from each worker of a client to each server, "
                      "used in turn; they share a connection.",
                  .default_value = int64_t{1},
                  .minimum = 1,
                  .maximum = kMaxGrpcStreams,
              },
              {
                  .name = "messages_per_stream",
                  .description =
                      "Requests after which a stream is replaced by a new one; "
                      "0 is never.",
                  .default_value = int64_t{0},
                  .maximum = kMaxMessagesPerStream,
              },
              {
                  .name = "send_queue_messages",
                  .description =
                      "Requests that may wait to be sent on a stream before "
                      "more are held back.",
                  .default_value = kSendQueueMessages,
                  .minimum = 1,
                  .maximum = kMaxSendQueueMessages,
              },
              SpinUs(),
          },
      .pass_through_prefix = "grpc.",
      .pass_through_maxima = ChannelArgumentMaxima(),
      .refused = std::move(refused),
  };
}

SettingsDeclaration GrpcStreamServerSettings() {
  return {
      .settings =
          {
              {
                  .name = "server_type",
                  .description = "Where requests are handled: \"inline\" by "
                                 "the worker that polls for them.",
                  .default_value = "inline",
                  .allowed_values = {"inline"},
              },
              Transport(),
              SpinUs(),
          },
      .pass_through_prefix = "grpc.",
      .pass_through_maxima = ChannelArgumentMaxima(),
      .refused = NetworkSettingsOfOthers("gRPC makes its own sockets"),
  };
}

DriverDeclaration GrpcStream() {
  return {
      .name = "grpc_stream",
      .description =
          "RPCs as messages on long-lived bidirectional gRPC streams. Settings "
          "whose names begin with \"grpc.\" become channel arguments of that "
          "side.",
      .streams = true,
      .cancels_calls = true,
      .client_settings = GrpcStreamClientSettings(),
      .server_settings = GrpcStreamServerSettings(),
  };
}

SettingDeclaration TcpSetting(const TcpSettingLimits& limits,
                              const std::string& description) {
  return {
      .name = limits.name,
      .description = description,
      .default_value = limits.default_value,
      .minimum = limits.minimum,
      .maximum = limits.maximum,
  };
}

SettingDeclaration CallsPerConnection() {
  return TcpSetting(
      kCallsPerConnection,
      "Calls after which a connection is closed and another one made; 0 is "
      "never, 1 a connection for each call. The time to connect is part of the "
      "latency of a connection's first call.");
}

DriverDeclaration Tcp() {
  return {
      .name = "tcp",
      .description =
          "RPCs in frames over plain TCP connections, to show what a machine "
          "can do without an RPC stack.",
      .cancels_calls = true,
      .breaks_connections = true,
      .client_settings = WithNetworkSettings(
          {.settings =
               {
                   TcpSetting(kTcpConnections,
                              "Connections from each worker of a client to "
                              "each server, used in turn."),
                   CallsPerConnection(),
                   TcpSetting(kTcpMaxBatch,
                              "Maximum number of requests gathered before they "
                              "are written to a connection; those of one turn "
                              "of the worker's loop share a write. With 1, "
                              "each is written at once."),
                   TcpSetting(kTcpSendQueueBytes,
                              "Bytes that may wait to be written to a "
                              "connection before requests are held back."),
                   SpinUs(),
                   ZeroCopySetting(),
               }},
          NetworkSide::kClient),
      .server_settings = WithNetworkSettings(
          {.settings =
               {
                   TcpSetting(kTcpMaxBatch, "Same, for replies."),
                   Transport(),
                   SpinUs(),
                   ZeroCopySetting(),
               }},
          NetworkSide::kServer),
      .channel_settings = ChannelSettings(),
  };
}

SettingDeclaration Http2StreamWindow(const std::string& messages) {
  return TcpSetting(kHttp2StreamWindow,
                    "Bytes of a " + messages +
                        " that its sender may send before it hears that they "
                        "have been read (HTTP/2's initial window size).");
}

SettingDeclaration Http2ConnectionWindow(const std::string& messages) {
  return TcpSetting(kHttp2ConnectionWindow, "Same, for all " + messages +
                                                "s of a connection together.");
}

DriverDeclaration Http2() {
  return {
      .name = "http2",
      .description =
          "gRPC's wire format over HTTP/2 without gRPC, to show what of gRPC's "
          "cost is HTTP/2's.",
      .cancels_calls = true,
      .breaks_connections = true,
      .client_settings = WithNetworkSettings(
          {.settings = {TcpSetting(kTcpConnections,
                                   "Connections from each worker of a client "
                                   "to each server, used in turn."),
                        CallsPerConnection(),
                        TcpSetting(kTcpSendQueueBytes,
                                   "Bytes that may wait to be written to a "
                                   "connection before requests are held back."),
                        SpinUs(), Http2StreamWindow("response"),
                        Http2ConnectionWindow("response")}},
          NetworkSide::kClient),
      .server_settings = WithNetworkSettings(
          {.settings = {TcpSetting(kHttp2MaxStreams,
                                   "Requests that may be in flight on a "
                                   "connection; further ones wait at the "
                                   "client."),
                        Transport(), SpinUs(), Http2StreamWindow("request"),
                        Http2ConnectionWindow("request")}},
          NetworkSide::kServer),
      .channel_settings = ChannelSettings(),
  };
}

DriverDeclaration Thrift() {
  return {
      .name = "thrift",
      .description =
          "Thrift's framed transport and strict binary protocol, with any "
          "number of calls in flight on a connection.",
      .cancels_calls = true,
      .breaks_connections = true,
      .client_settings = WithNetworkSettings(
          {.settings = {TcpSetting(kTcpConnections,
                                   "Connections from each worker of a client "
                                   "to each server, used in turn."),
                        CallsPerConnection(),
                        TcpSetting(kTcpSendQueueBytes,
                                   "Bytes that may wait to be written to a "
                                   "connection before requests are held back."),
                        SpinUs()}},
          NetworkSide::kClient),
      .server_settings = WithNetworkSettings(
          {.settings = {Transport(), SpinUs()}}, NetworkSide::kServer),
      .channel_settings = ChannelSettings(),
  };
}

DriverDeclaration Capnp() {
  return {
      .name = "capnp",
      .description = "Cap'n Proto RPC over TCP.",
      .built_in = DISTBENCH_HAS_CAPNP == 1,
      .package = "libcapnp-dev",
      .cancels_calls = true,
      .breaks_connections = true,
      .client_settings = WithNetworkSettings(
          {.settings = {TcpSetting(kTcpConnections,
                                   "Connections from each worker of a client "
                                   "to each server, used in turn."),
                        CallsPerConnection(),
                        TcpSetting(kTcpSendQueueBytes,
                                   "Bytes that may wait to be written to a "
                                   "connection before requests are held back."),
                        SpinUs()}},
          NetworkSide::kClient),
      .server_settings = WithNetworkSettings(
          {.settings = {Transport(), SpinUs()}}, NetworkSide::kServer),
      .channel_settings = ChannelSettings(),
  };
}

DriverDeclaration Libfabric() {
  return {
      .name = "libfabric",
      .description =
          "Messages over reliable datagrams of libfabric, whose providers are "
          "networks for high-performance computing and clouds, TCP, and memory "
          "that processes share.",
      .built_in = DISTBENCH_HAS_LIBFABRIC == 1,
      .package = "libfabric-dev",
      .cancels_calls = true,
      .client_settings =
          {.settings = {TcpSetting(kTcpSendQueueBytes,
                                   "Bytes of requests to a server that "
                                   "may wait to be sent before more "
                                   "requests are held back."),
                        SpinUs()},
           .refused = NoCallsPerConnection("its links are no connections")},
      .server_settings =
          {.settings = {{
                            .name = kLibfabricProvider,
                            .description =
                                "The provider, as fi_info lists it, if needed "
                                "with its utility layers, such as "
                                "\"tcp;ofi_rxm\".",
                            .default_value = kLibfabricDefaultProvider,
                        },
                        {
                            .name = kLibfabricEndpoint,
                            .description =
                                "\"rdm\" for reliable datagrams, or \"msg\" "
                                "for a connection to each peer.",
                            .default_value = kRdmEndpoint,
                            .allowed_values = {kRdmEndpoint, kMsgEndpoint},
                        },
                        TcpSetting(kLibfabricReceiveBuffers,
                                   "Buffers of each worker in which messages "
                                   "can arrive at the same time."),
                        TcpSetting(kLibfabricReceiveBufferBytes,
                                   "Size of each of these buffers; a larger "
                                   "message arrives in pieces."),
                        SpinUs()}},
      .channel_settings = ChannelSettings(),
  };
}

DriverDeclaration Decorator(const std::string& name,
                            const std::string& description,
                            const std::string& setting) {
  return {
      .name = name,
      .description = description,
      .cancels_calls = true,
      .breaks_connections = true,
      .server_settings = {.settings = {{
                              .name = setting,
                              .description =
                                  "The driver that is decorated, or the name "
                                  "of protocol_driver_options.",
                              .default_value = "",
                              .required = true,
                          }}},
      .decorated_driver_setting = setting,
  };
}

std::vector<DriverDeclaration> MakeCatalog() {
  return {
      Grpc("grpc",
           "gRPC over TCP. Settings whose names begin with \"grpc.\" become "
           "channel arguments of that side.",
           "polling", "inline"),
      GrpcAsyncCallback(),
      GrpcStream(),
      Http2(),
      Capnp(),
      Libfabric(),
      Tcp(),
      Thrift(),
      {
          .name = "loopback",
          .description =
              "Delivers RPCs inside one process, without sockets: for "
              "measuring and testing distbench itself.",
          .stays_in_process = true,
          .streams = true,
          .cancels_calls = true,
          .breaks_connections = true,
          .client_settings = {.refused = NoCallsPerConnection(
                                  "it has no connections")},
          .channel_settings = ChannelSettings(),
      },
      Decorator("double_barrel",
                "Sends RPCs through two clients of another driver in turn; "
                "they share one server.",
                "next_protocol_driver"),
      Decorator("composable_rpc_counter",
                "Counts the RPCs that another driver sends and receives; the "
                "counts are in the result and in its summary.",
                "driver_under_test"),
      {
          .name = "homa",
          .description = "The Homa transport, which needs a kernel module.",
          .built_in = false,
      },
      {
          .name = "mercury",
          .description = "The Mercury RPC framework.",
          .built_in = false,
      },
  };
}

}  // namespace

absl::Span<const DriverDeclaration> DriverCatalog() {
  static const auto* const catalog =
      new std::vector<DriverDeclaration>(MakeCatalog());
  return *catalog;
}

const DriverDeclaration* FindDriver(absl::string_view name) {
  for (const DriverDeclaration& driver : DriverCatalog()) {
    if (driver.name == name) return &driver;
  }
  return nullptr;
}

std::vector<std::string> BuiltInDriverNames() {
  std::vector<std::string> names;
  for (const DriverDeclaration& driver : DriverCatalog()) {
    if (driver.built_in) names.push_back(driver.name);
  }
  return names;
}

}  // namespace distbench
