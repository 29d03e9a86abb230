#include "distbench/config/catalogs/driver_catalog.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/plugins.h"
#include "distbench/config/catalogs/driver_settings.h"
#include "distbench/config/problems/suggest.h"

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

namespace {

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

DriverDeclaration Tcp() {
  return DriverOverConnections(
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

DriverDeclaration Loopback() {
  return {
      .name = "loopback",
      .description =
          "Delivers RPCs inside one process, without sockets: for measuring "
          "and "
          "testing distbench itself.",
      .stays_in_process = true,
      .streams = true,
      .cancels_calls = true,
      .breaks_connections = true,
      .client_settings = {.settings = {},
                          .refused =
                              NoCallsPerConnection("it has no connections")},
      .channel_settings = ChannelSettings(),
      .files =
          [](const DriverOptions&) {
            return DriverFiles{.has_connections = false};
          },
  };
}

// Drivers that others have and this program has not.
std::vector<DriverDeclaration> NotBuiltIn() {
  return {
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

// The tcp driver and those of products, by name.
std::vector<DriverDeclaration> TcpAndOthers() {
  std::map<std::string, DriverDeclaration> by_name = {{"tcp", Tcp()}};
  for (const auto& [name, driver] : base::Plugins<DriverDeclaration>::All()) {
    by_name.emplace(name, *driver);
  }
  std::vector<DriverDeclaration> drivers;
  for (auto& [name, driver] : by_name) drivers.push_back(std::move(driver));
  return drivers;
}

bool Has(const SettingsDeclaration& side, const std::string& name) {
  return absl::c_any_of(side.settings, [&](const SettingDeclaration& setting) {
    return setting.name == name;
  });
}

// Returns `"a", "b" or "c"`: the drivers with that setting on one of their
// sides.
std::string DriversWith(const std::string& setting,
                        const std::vector<DriverDeclaration>& catalog) {
  std::vector<std::string> names;
  for (const DriverDeclaration& driver : catalog) {
    const bool has_it = Has(driver.client_settings, setting) ||
                        Has(driver.server_settings, setting);
    if (has_it && driver.alias_of.empty()) names.push_back(Quoted(driver.name));
  }
  if (names.size() < 2) return absl::StrJoin(names, "");
  const std::string last = std::move(names.back());
  names.pop_back();
  return absl::StrCat(absl::StrJoin(names, ", "), " or ", last);
}

// Adds to the reasons of what a driver refuses which drivers do not.
void AddDriversToUse(const std::vector<DriverDeclaration>& catalog,
                     std::map<std::string, std::string>& refused) {
  for (auto& [setting, reason] : refused) {
    const std::string drivers = DriversWith(setting, catalog);
    if (!drivers.empty()) {
      absl::StrAppend(&reason, "; use the driver ", drivers);
    }
  }
}

std::vector<DriverDeclaration> MakeCatalog() {
  std::vector<DriverDeclaration> catalog = GrpcDeclarations();
  const auto add = [&catalog](std::vector<DriverDeclaration> drivers) {
    absl::c_move(drivers, std::back_inserter(catalog));
  };
  add(TcpAndOthers());
  add({Loopback(),
       Decorator("double_barrel",
                 "Sends RPCs through two clients of another driver in turn; "
                 "they share one server.",
                 "next_protocol_driver"),
       Decorator("composable_rpc_counter",
                 "Counts the RPCs that another driver sends and receives; the "
                 "counts are in the result and in its summary.",
                 "driver_under_test")});
  add(NotBuiltIn());
  for (DriverDeclaration& driver : catalog) {
    AddDriversToUse(catalog, driver.client_settings.refused);
    AddDriversToUse(catalog, driver.server_settings.refused);
  }
  return catalog;
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

}  // namespace distbench::config
