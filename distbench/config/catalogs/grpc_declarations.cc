#include "distbench/config/catalogs/grpc_declarations.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "distbench/config/catalogs/driver_settings.h"

namespace distbench::config {
namespace {

constexpr int64_t kMaxPoolThreads = 10'000;
constexpr int64_t kMaxGrpcChannels = 1024;

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
              LimitedSetting(
                  kCallsPerConnection,
                  "Calls after which a channel is closed and another one made, "
                  "with its connection; 0 is never, 1 a channel for each call. "
                  "The time to connect is part of the latency of a channel's "
                  "first call."),
              SpinUs(),
          },
      .pass_through_prefix = "grpc.",
      .pass_through_maxima = ChannelArgumentMaxima(),
      .refused = NoNetworkSettings("gRPC makes its own sockets"),
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
      .refused = NoNetworkSettings("gRPC makes its own sockets"),
  };
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

SettingsDeclaration GrpcStreamClientSettings() {
  std::map<std::string, std::string> refused =
      NoNetworkSettings("gRPC makes its own sockets");
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
      .refused = NoNetworkSettings("gRPC makes its own sockets"),
  };
}

DriverDeclaration PlainGrpc() {
  return Grpc("grpc",
              "gRPC over TCP. Settings whose names begin with \"grpc.\" become "
              "channel arguments of that side.",
              "polling", "inline");
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

}  // namespace

std::vector<DriverDeclaration> GrpcDeclarations() {
  return {PlainGrpc(), GrpcAsyncCallback(), GrpcStream()};
}

}  // namespace distbench::config
