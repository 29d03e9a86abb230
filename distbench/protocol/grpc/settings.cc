#include "distbench/protocol/grpc/settings.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace distbench {
namespace {

using Value = DriverOptions::Value;
using Settings = std::map<std::string, Value>;

constexpr int64_t kMaxSpinUs = 1'000'000;

// A setting whose value chooses between things. Those without values matter to
// other server types only.
struct Choice {
  absl::string_view name;
  std::vector<absl::string_view> values;
};

const std::vector<Choice>& ClientChoices() {
  static const auto* const choices = new std::vector<Choice>{
      {"client_type", {"", "polling"}},
  };
  return *choices;
}

const std::vector<Choice>& ServerChoices() {
  static const auto* const choices = new std::vector<Choice>{
      {"server_type", {"", "inline"}},
      {"threadpool_size", {}},
      {"threadpool_type", {}},
      {"transport", {"", "tcp"}},
  };
  return *choices;
}

std::string ToText(const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return absl::StrCat(*number);
  }
  return absl::StrCat("\"", std::get<std::string>(value), "\"");
}

absl::Status Wrong(absl::string_view side, absl::string_view name,
                   const Value& value, absl::string_view remedy) {
  return absl::InvalidArgumentError(
      absl::StrCat("driver \"grpc\", ", side, " setting \"", name,
                   "\" = ", ToText(value), ": ", remedy));
}

// All that the settings of one side come down to.
struct Side {
  absl::string_view name;
  const std::vector<Choice>& choices;
  ChannelArguments& arguments;
  int64_t& spin_ns;

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
    if (key == "spin_us") return ApplySpin(value);
    for (const Choice& choice : choices) {
      if (key == choice.name) return CheckChoice(choice, value);
    }
    std::vector<absl::string_view> known = {"grpc.* (channel arguments)",
                                            "spin_us"};
    for (const Choice& choice : choices) known.push_back(choice.name);
    return Wrong(name, key, value,
                 absl::StrCat("there is no such setting; there are ",
                              absl::StrJoin(known, ", ")));
  }

  absl::Status ApplyArgument(const std::string& key, const Value& value) {
    const auto* number = std::get_if<int64_t>(&value);
    if (number != nullptr && (*number < std::numeric_limits<int>::min() ||
                              *number > std::numeric_limits<int>::max())) {
      return Wrong(name, key, value, "channel arguments have 32 bits");
    }
    arguments.Set(key, value);
    return absl::OkStatus();
  }

  absl::Status ApplySpin(const Value& value) {
    const auto* number = std::get_if<int64_t>(&value);
    if (number == nullptr || *number < 0 || *number > kMaxSpinUs) {
      return Wrong(name, "spin_us", value,
                   absl::StrCat("expected an int64_value from 0 to ",
                                kMaxSpinUs, " (microseconds)"));
    }
    spin_ns = std::max(spin_ns, *number * 1000);
    return absl::OkStatus();
  }

  absl::Status CheckChoice(const Choice& choice, const Value& value) const {
    if (choice.values.empty()) return absl::OkStatus();
    const auto* text = std::get_if<std::string>(&value);
    for (absl::string_view allowed : choice.values) {
      if (text != nullptr && *text == allowed) return absl::OkStatus();
    }
    return Wrong(name, choice.name, value,
                 absl::StrCat("expected the string_value \"",
                              choice.values.back(), "\""));
  }
};

GrpcSettings Defaults() {
  GrpcSettings settings;
  for (ChannelArguments* arguments : {&settings.client, &settings.server}) {
    arguments->Set(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1);
    arguments->Set(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1);
  }
  // Each channel is a connection of its own.
  settings.client.Set(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // What is measured is what was sent, once, straight to the peer.
  settings.client.Set(GRPC_ARG_ENABLE_RETRIES, 0);
  settings.client.Set(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // A peer that comes back is found soon (gRPC makes the first 100 ms).
  settings.client.Set(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 1);
  settings.client.Set(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // A port belongs to one instance.
  settings.server.Set(GRPC_ARG_ALLOW_REUSEPORT, 0);
  return settings;
}

}  // namespace

void ChannelArguments::Set(const std::string& name, Value value) {
  values_[name] = std::move(value);
}

std::vector<grpc_arg> ChannelArguments::AsGrpc() const {
  std::vector<grpc_arg> arguments;
  for (const auto& [name, value] : values_) {
    grpc_arg& argument = arguments.emplace_back();
    // gRPC's C structs have no const, but it writes to neither.
    argument.key = const_cast<char*>(name.c_str());
    if (const auto* number = std::get_if<int64_t>(&value)) {
      argument.type = GRPC_ARG_INTEGER;
      argument.value.integer = static_cast<int>(*number);
    } else {
      argument.type = GRPC_ARG_STRING;
      argument.value.string =
          const_cast<char*>(std::get<std::string>(value).c_str());
    }
  }
  return arguments;
}

absl::StatusOr<GrpcSettings> ParseGrpcSettings(const DriverOptions& options) {
  GrpcSettings settings = Defaults();
  absl::Status status =
      Side{"client", ClientChoices(), settings.client, settings.spin_ns}.Apply(
          options.client_settings);
  status.Update(
      Side{"server", ServerChoices(), settings.server, settings.spin_ns}.Apply(
          options.server_settings));
  if (!status.ok()) return status;
  return settings;
}

}  // namespace distbench
