// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/settings.h"

#include <grpc/grpc.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "distbench/base/threads.h"

namespace distbench::protocol {
namespace {

using Settings = std::map<std::string, config::DriverOptions::Value>;

int64_t Number(const Settings& settings, const std::string& name,
               int64_t default_value) {
  const auto* number = config::FindSettingValue<int64_t>(settings, name);
  return number == nullptr ? default_value : *number;
}

// What the setting's word stands for. Without the setting, or if its word is
// empty, the first choice.
template <typename Choice>
Choice Choose(
    const Settings& settings, const std::string& name,
    std::initializer_list<std::pair<absl::string_view, Choice>> choices) {
  const auto* word = config::FindSettingValue<std::string>(settings, name);
  for (const auto& [known, choice] : choices) {
    if (word != nullptr && *word == known) return choice;
  }
  return choices.begin()->second;
}

void AddArguments(const Settings& settings, ChannelArguments& arguments) {
  for (const auto& [name, value] : settings) {
    if (absl::StartsWith(name, "grpc.")) arguments.Set(name, value);
  }
}

GrpcSettings Defaults() {
  GrpcSettings settings;
  settings.pool_size = base::UsableCpuCount();
  for (ChannelArguments* arguments : {&settings.client, &settings.server}) {
    arguments->Set(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1);
    arguments->Set(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1);
  }
  // Each channel is a separate connection.
  settings.client.Set(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // Measure what was sent, once, directly to the peer.
  settings.client.Set(GRPC_ARG_ENABLE_RETRIES, 0);
  settings.client.Set(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Find a restarted peer soon (gRPC makes the first back-off 100 ms).
  settings.client.Set(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 1);
  settings.client.Set(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // A port belongs to a single instance.
  settings.server.Set(GRPC_ARG_ALLOW_REUSEPORT, 0);
  return settings;
}

// What both drivers have.
GrpcSettings ReadCommonSettings(const config::DriverOptions& options) {
  const Settings& client = options.client_settings;
  const Settings& server = options.server_settings;
  GrpcSettings settings = Defaults();
  AddArguments(client, settings.client);
  AddArguments(server, settings.server);
  settings.uses_unix_socket = Choose<bool>(
      server, config::kTransportSetting,
      {{config::kTcpTransport, false}, {config::kUnixTransport, true}});
  // One worker serves both sides.
  settings.spin_ns =
      1000 * std::max({int64_t{0}, Number(client, config::kTcpSpinUs.name, 0),
                       Number(server, config::kTcpSpinUs.name, 0)});
  return settings;
}

}  // namespace

GrpcSettings ReadGrpcSettings(const config::DriverOptions& options) {
  using Kind = HandlerPool::Kind;
  const Settings& client = options.client_settings;
  const Settings& server = options.server_settings;
  GrpcSettings settings = ReadCommonSettings(options);
  settings.client_type = Choose<ClientType>(
      client, "client_type",
      {{"polling", ClientType::kPolling}, {"callback", ClientType::kCallback}});
  settings.server_type =
      Choose<ServerType>(server, "server_type",
                         {{"inline", ServerType::kInline},
                          {"handoff", ServerType::kHandoff},
                          {"polling", ServerType::kPolling}});
  settings.pool_kind = Choose<Kind>(server, "threadpool_type",
                                    {{"elastic", Kind::kElastic},
                                     {"simple", Kind::kSimple},
                                     {"null", Kind::kThreadPerTask}});
  const int64_t pool_size = Number(server, "threadpool_size", 0);
  if (pool_size > 0) settings.pool_size = static_cast<int>(pool_size);
  settings.pool_for_all = Choose<bool>(server, "threadpool_use",
                                       {{"nonempty", false}, {"all", true}});
  settings.channels = static_cast<int>(Number(client, "channels", 1));
  settings.calls_per_connection =
      Number(client, config::kCallsPerConnection.name, 0);
  return settings;
}

GrpcSettings ReadGrpcStreamSettings(const config::DriverOptions& options) {
  const Settings& client = options.client_settings;
  GrpcSettings settings = ReadCommonSettings(options);
  StreamSettings& streams = settings.streams.emplace();
  streams.streams =
      static_cast<int>(Number(client, "streams", streams.streams));
  streams.messages_per_stream =
      Number(client, "messages_per_stream", streams.messages_per_stream);
  streams.send_queue_messages =
      Number(client, "send_queue_messages", streams.send_queue_messages);
  return settings;
}

}  // namespace distbench::protocol
