// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "distbench/base/plugins.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/settings.h"
#include "distbench/config/reading/parse.h"
#include "glog/logging.h"
#include "google/protobuf/text_format.h"
#include "test_builder/protocols/protocol.h"
#include "test_builder/protocols/protocols_file.h"

namespace distbench::test_builder {
namespace {

// ---- From the catalog to parameters -----------------------------------------

// Null if the driver, or that side of it, does not have the setting.
const config::SettingDeclaration* FindOn(
    config::SettingsDeclaration config::DriverDeclaration::*side,
    const std::string& driver, const std::string& setting) {
  const config::DriverDeclaration* const declared = config::FindDriver(driver);
  return declared == nullptr ? nullptr
                             : config::FindSetting(declared->*side, setting);
}

// `by_default` becomes the default, as the catalog has it.
Parameter ParameterOf(const config::SettingDeclaration& setting,
                      std::string& by_default) {
  Parameter parameter;
  if (const auto* number = std::get_if<int64_t>(&setting.default_value)) {
    parameter.set_type(Parameter::INTEGER);
    parameter.set_minimum(static_cast<double>(setting.minimum));
    if (setting.maximum != std::numeric_limits<int64_t>::max()) {
      parameter.set_maximum(static_cast<double>(setting.maximum));
    }
    by_default = absl::StrCat(*number);
  } else {
    // Other programs may have drivers, and what carries them, that this one has
    // not.
    parameter.set_type(Parameter::WORD);
    for (const std::string& word : setting.allowed_values) {
      if (!word.empty()) parameter.add_choices(word);
    }
    by_default = std::get<std::string>(setting.default_value);
  }
  parameter.set_meaning(setting.description);
  return parameter;
}

Parameter ParameterOf(const std::string& driver, const DriverSetting& setting) {
  using Driver = config::DriverDeclaration;
  const auto* declared =
      FindOn(&Driver::client_settings, driver, setting.name());
  if (declared == nullptr) {
    declared = FindOn(&Driver::server_settings, driver, setting.name());
  }
  std::string by_default;
  Parameter parameter =
      declared == nullptr ? Parameter() : ParameterOf(*declared, by_default);
  if (!by_default.empty() && !setting.declared().has_default_value()) {
    absl::StrAppend(parameter.mutable_meaning(), " Default: ", by_default, ".");
  }
  const Driver* const known = config::FindDriver(driver);
  if (known != nullptr && known->decorated_driver_setting == setting.name()) {
    for (const std::string& name : config::BuiltInDriverNames()) {
      parameter.add_choices(name);
    }
  }
  parameter.MergeFrom(setting.declared());
  parameter.set_name(setting.name());
  return parameter;
}

// ---- The list ---------------------------------------------------------------

// This and what products add are parts of the program, so that they are valid
// is for tests to show.
ProtocolFile ReadFile() {
  ProtocolFile file;
  const absl::Status status =
      config::ParseYaml(kProtocolsYaml, "protocols.yaml", file);
  CHECK(status.ok()) << status;
  return file;
}

Protocol Completed(const Protocol& declared, const ProtocolFile& file) {
  Protocol protocol = declared;
  if (declared.over_connections()) {
    *protocol.mutable_settings() = file.connections();
    protocol.mutable_settings()->MergeFrom(declared.settings());
    protocol.mutable_settings()->MergeFrom(file.networks());
  }
  for (const DriverSetting& setting : protocol.settings()) {
    *protocol.add_parameters() = ParameterOf(protocol.name(), setting);
  }
  return protocol;
}

std::vector<Protocol> MakeProtocols() {
  const ProtocolFile file = ReadFile();
  std::vector<Protocol> protocols;
  for (const Protocol& declared : file.protocols()) {
    std::map<std::string, Protocol> by_name = {{declared.name(), declared}};
    if (declared.name() == "tcp") {
      for (const auto& [name, added] : base::Plugins<ProtocolText>::All()) {
        CHECK(google::protobuf::TextFormat::ParseFromString(
            std::string(added->text), &by_name[name]));
      }
    }
    for (const auto& [name, protocol] : by_name) {
      protocols.push_back(Completed(protocol, file));
    }
  }
  return protocols;
}

// ---- From values to options -------------------------------------------------

// Whether the parameter becomes a setting.
bool IsSet(const DriverSetting& setting, const ParameterValues& values) {
  if (!values.Has(setting.name())) return false;
  if (setting.zero_is_none() && values.Integer(setting.name()) == 0) {
    return false;
  }
  const std::vector<std::string> other =
      absl::StrSplit(setting.not_with(), '=');
  return other.size() != 2 || values.Text(other[0]) != other[1];
}

// Adds the value, which there must be.
void AddSetting(const Protocol& protocol, const DriverSetting& setting,
                const ParameterValues& values, ProtocolDriverOptions& options) {
  const std::string& name = setting.name();
  const Parameter& parameter = *FindByName(protocol.parameters(), name);
  NamedSetting added;
  added.set_name(setting.has_driver_name() ? setting.driver_name() : name);
  if (parameter.type() == Parameter::INTEGER) {
    added.set_int64_value(values.Integer(name));
  } else {
    const bool is_default = values.Text(name) == parameter.default_value();
    added.set_string_value(is_default && setting.has_driver_default()
                               ? setting.driver_default()
                               : values.Text(name));
  }
  using Driver = config::DriverDeclaration;
  const bool is_clients =
      !setting.only_server() &&
      FindOn(&Driver::client_settings, protocol.name(), name) != nullptr;
  const bool is_servers =
      !is_clients ||
      FindOn(&Driver::server_settings, protocol.name(), name) != nullptr;
  if (is_clients) *options.add_client_settings() = added;
  if (is_servers) *options.add_server_settings() = added;
}

// The engine of tests that need none by name, as one of several values.
constexpr char kOwnEngine[] = "own";

// "_ipv4", "_ipv6" or empty.
std::string IpVersionSuffix(const ParameterValues& values) {
  if (!values.Has("ip_version")) return "";
  return absl::StrCat("_ipv", values.Text("ip_version"));
}

// Has no names of settings, and the size of the pool even where the driver
// chooses it.
std::string HomaAlias(const ParameterValues& values) {
  const std::string& pool_type = values.Text("threadpool_type");
  return absl::StrCat(
      "homa",
      values.Text("ping_pong") == "1" ? "_pingpong"
      : values.Text("nocopy") == "1"  ? "_nocopy"
                                      : "",
      IpVersionSuffix(values), "_", values.Text("server_threads"), "x",
      values.Text("client_threads"), "x", values.Text("threadpool_size"),
      pool_type.empty() ? "" : "_", pool_type);
}

}  // namespace

const std::vector<Protocol>& AllProtocols() {
  static const auto& protocols = *new std::vector<Protocol>(MakeProtocols());
  return protocols;
}

std::vector<std::string> ProtocolNames() { return NamesOf(AllProtocols()); }

const Protocol* FindProtocol(absl::string_view name) {
  return FindByName(AllProtocols(), name);
}

ProtocolSetup SetUp(const Protocol& protocol, const ParameterValues& values) {
  ProtocolSetup setup = {.alias = protocol.name(), .options = {}};
  const std::string ip_version = IpVersionSuffix(values);
  if (!protocol.has_ip_version_after()) setup.alias += ip_version;
  for (const DriverSetting& setting : protocol.settings()) {
    if (!IsSet(setting, values)) continue;
    AddSetting(protocol, setting, values, setup.options);
    // Names of libfabric's layered providers contain a semicolon.
    absl::StrAppend(
        &setup.alias, "_", setting.word(),
        absl::StrReplaceAll(values.Text(setting.name()), {{";", "_"}}));
    if (setting.name() == protocol.ip_version_after()) {
      setup.alias += ip_version;
    }
  }
  if (protocol.name() == "homa") setup.alias = HomaAlias(values);
  if (values.Has("engine") && values.Text("engine") != kOwnEngine) {
    setup.options.set_engine(values.Text("engine"));
    absl::StrAppend(&setup.alias, "_", values.Text("engine"));
  }
  return setup;
}

}  // namespace distbench::test_builder
