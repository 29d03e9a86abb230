#include "distbench/protocol/grpc/settings.h"

#include <grpc/grpc.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/threads.h"

namespace distbench::protocol {
namespace {

using Value = config::DriverOptions::Value;
using Settings = std::map<std::string, Value>;

constexpr int64_t kMaxSpinUs = 1'000'000;
constexpr int64_t kMaxChannels = 1024;

// A possible value of a setting, and its effect.
struct Choice {
  absl::string_view value;
  void (*set)(GrpcSettings& settings);
};

// A setting with a list of possible values.
struct ChoiceSetting {
  absl::string_view name;
  std::vector<Choice> choices;
};

// A setting with a number from `minimum` to `maximum`.
struct NumberSetting {
  absl::string_view name;
  int64_t minimum;
  int64_t maximum;
  absl::string_view unit;
  void (*set)(GrpcSettings& settings, int64_t value);
};

struct SideSettings {
  absl::string_view driver;
  absl::string_view side;
  std::vector<ChoiceSetting> choices;
  std::vector<NumberSetting> numbers;
};

template <ClientType type>
void SetClientType(GrpcSettings& settings) {
  settings.client_type = type;
}

template <ServerType type>
void SetServerType(GrpcSettings& settings) {
  settings.server_type = type;
}

template <HandlerPool::Kind kind>
void SetPoolKind(GrpcSettings& settings) {
  settings.pool_kind = kind;
}

template <bool all>
void SetPoolUse(GrpcSettings& settings) {
  settings.pool_for_all = all;
}

template <bool is_unix>
void SetTransport(GrpcSettings& settings) {
  settings.uses_unix_socket = is_unix;
}

ChoiceSetting TransportSetting() {
  return {config::kTransportSetting,
          {{"", SetTransport<false>},
           {config::kTcpTransport, SetTransport<false>},
           {config::kUnixTransport, SetTransport<true>}}};
}

NumberSetting SpinSetting() {
  return {"spin_us", 0, kMaxSpinUs, "microseconds",
          [](GrpcSettings& settings, int64_t value) {
            settings.spin_ns = std::max(settings.spin_ns, value * 1000);
          }};
}

const SideSettings& ClientSettings() {
  static const auto* const settings = new SideSettings{
      .driver = "grpc",
      .side = "client",
      .choices = {{"client_type",
                   {{"", SetClientType<ClientType::kPolling>},
                    {"polling", SetClientType<ClientType::kPolling>},
                    {"callback", SetClientType<ClientType::kCallback>}}}},
      .numbers = {
          SpinSetting(),
          {"channels", 1, kMaxChannels, "connections to each server",
           [](GrpcSettings& settings, int64_t value) {
             settings.channels = static_cast<int>(value);
           }},
          {config::kCallsPerConnection.name,
           config::kCallsPerConnection.minimum,
           config::kCallsPerConnection.maximum, "calls; 0 is any number",
           [](GrpcSettings& settings, int64_t value) {
             settings.calls_per_connection = value;
           }}}};
  return *settings;
}

const SideSettings& ServerSettings() {
  using Kind = HandlerPool::Kind;
  static const auto* const settings = new SideSettings{
      .driver = "grpc",
      .side = "server",
      .choices = {{"server_type",
                   {{"", SetServerType<ServerType::kInline>},
                    {"inline", SetServerType<ServerType::kInline>},
                    {"handoff", SetServerType<ServerType::kHandoff>},
                    {"polling", SetServerType<ServerType::kPolling>}}},
                  {"threadpool_type",
                   {{"", SetPoolKind<Kind::kElastic>},
                    {"elastic", SetPoolKind<Kind::kElastic>},
                    {"simple", SetPoolKind<Kind::kSimple>},
                    {"null", SetPoolKind<Kind::kThreadPerTask>}}},
                  {"threadpool_use",
                   {{"", SetPoolUse<false>},
                    {"nonempty", SetPoolUse<false>},
                    {"all", SetPoolUse<true>}}},
                  TransportSetting()},
      .numbers = {SpinSetting(),
                  {"threadpool_size", 0, HandlerPool::kMaxThreads, "threads",
                   [](GrpcSettings& settings, int64_t value) {
                     if (value > 0) settings.pool_size = value;
                   }}}};
  return *settings;
}

const SideSettings& StreamClientSettings() {
  static const auto* const settings = new SideSettings{
      .driver = "grpc_stream",
      .side = "client",
      .choices = {},
      .numbers = {
          SpinSetting(),
          {"streams", 1, config::kMaxGrpcStreams, "streams to each server",
           [](GrpcSettings& settings, int64_t value) {
             settings.streams->streams = static_cast<int>(value);
           }},
          {"messages_per_stream", 0, config::kMaxMessagesPerStream, "messages",
           [](GrpcSettings& settings, int64_t value) {
             settings.streams->messages_per_stream = value;
           }},
          {"send_queue_messages", 1, config::kMaxSendQueueMessages, "messages",
           [](GrpcSettings& settings, int64_t value) {
             settings.streams->send_queue_messages = value;
           }}}};
  return *settings;
}

const SideSettings& StreamServerSettings() {
  static const auto* const settings = new SideSettings{
      .driver = "grpc_stream",
      .side = "server",
      .choices = {{"server_type",
                   {{"", SetServerType<ServerType::kInline>},
                    {"inline", SetServerType<ServerType::kInline>}}},
                  TransportSetting()},
      .numbers = {SpinSetting()}};
  return *settings;
}

std::string ToText(const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return absl::StrCat(*number);
  }
  return absl::StrCat("\"", std::get<std::string>(value), "\"");
}

absl::Status Wrong(const SideSettings& known, absl::string_view name,
                   const Value& value, absl::string_view remedy) {
  return absl::InvalidArgumentError(
      absl::StrCat("driver \"", known.driver, "\", ", known.side, " setting \"",
                   name, "\" = ", ToText(value), ": ", remedy));
}

// Applies the settings of one side.
class Side {
 public:
  Side(const SideSettings& known, ChannelArguments& arguments,
       GrpcSettings& settings)
      : known_(known), arguments_(arguments), settings_(settings) {}

  absl::Status Apply(const Settings& settings) {
    for (const auto& [key, value] : settings) {
      const absl::Status status = Apply(key, value);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Apply(const std::string& key, const Value& value) {
    if (absl::StartsWith(key, "grpc.")) return ApplyArgument(key, value);
    for (const ChoiceSetting& choice : known_.choices) {
      if (key == choice.name) return ApplyChoice(choice, value);
    }
    for (const NumberSetting& number : known_.numbers) {
      if (key == number.name) return ApplyNumber(number, value);
    }
    std::vector<absl::string_view> names = {"grpc.* (channel arguments)"};
    for (const ChoiceSetting& choice : known_.choices) {
      names.push_back(choice.name);
    }
    for (const NumberSetting& number : known_.numbers) {
      names.push_back(number.name);
    }
    return Wrong(known_, key, value,
                 absl::StrCat("there is no such setting; there are ",
                              absl::StrJoin(names, ", ")));
  }

  absl::Status ApplyArgument(const std::string& key, const Value& value) {
    const auto* number = std::get_if<int64_t>(&value);
    if (number != nullptr && (*number < std::numeric_limits<int>::min() ||
                              *number > std::numeric_limits<int>::max())) {
      return Wrong(known_, key, value, "channel arguments have 32 bits");
    }
    arguments_.Set(key, value);
    return absl::OkStatus();
  }

  absl::Status ApplyNumber(const NumberSetting& setting, const Value& value) {
    const auto* number = std::get_if<int64_t>(&value);
    if (number == nullptr || *number < setting.minimum ||
        *number > setting.maximum) {
      return Wrong(
          known_, setting.name, value,
          absl::StrCat("expected an int64_value from ", setting.minimum, " to ",
                       setting.maximum, " (", setting.unit, ")"));
    }
    setting.set(settings_, *number);
    return absl::OkStatus();
  }

  absl::Status ApplyChoice(const ChoiceSetting& setting, const Value& value) {
    const auto* text = std::get_if<std::string>(&value);
    std::vector<std::string> allowed;
    for (const Choice& choice : setting.choices) {
      if (text != nullptr && *text == choice.value) {
        choice.set(settings_);
        return absl::OkStatus();
      }
      if (!choice.value.empty()) {
        allowed.push_back(absl::StrCat("\"", choice.value, "\""));
      }
    }
    return Wrong(known_, setting.name, value,
                 absl::StrCat("expected a string_value: ",
                              absl::StrJoin(allowed, ", ")));
  }

  const SideSettings& known_;
  ChannelArguments& arguments_;
  GrpcSettings& settings_;
};

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

absl::StatusOr<GrpcSettings> Parse(const config::DriverOptions& options,
                                   const SideSettings& client,
                                   const SideSettings& server,
                                   GrpcSettings settings) {
  absl::Status status =
      Side(client, settings.client, settings).Apply(options.client_settings);
  status.Update(
      Side(server, settings.server, settings).Apply(options.server_settings));
  if (!status.ok()) return status;
  return settings;
}

}  // namespace

absl::StatusOr<GrpcSettings> ParseGrpcSettings(
    const config::DriverOptions& options) {
  return Parse(options, ClientSettings(), ServerSettings(), Defaults());
}

absl::StatusOr<GrpcSettings> ParseGrpcStreamSettings(
    const config::DriverOptions& options) {
  GrpcSettings defaults = Defaults();
  defaults.streams.emplace();
  return Parse(options, StreamClientSettings(), StreamServerSettings(),
               std::move(defaults));
}

}  // namespace distbench::protocol
