#include "test_builder/protocols/setup_parts.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace distbench::test_builder {
namespace {

SettingParameter ConnectionsSetting() {
  return {IntegerParameter("connections", "", {1},
                           "Connections from each worker of a client to each "
                           "server. Default: 1."),
          SettingParameter::Sides::kClient, "conn"};
}

std::vector<SettingParameter> SettingsOfNetwork() {
  return {{WordParameter("congestion_control", "",
                         "TCP's congestion control, on both sides. Default: "
                         "the hosts'."),
           SettingParameter::Sides::kBoth},
          {IntegerParameter("dscp", "", {0, 63},
                            "The DSCP of all packets. Default: the hosts'."),
           SettingParameter::Sides::kBoth, "dscp"}};
}

}  // namespace

void AddSetting(const ParameterValues& values, const SettingParameter& setting,
                ProtocolDriverOptions& options) {
  using Sides = SettingParameter::Sides;
  const Parameter& parameter = setting.parameter;
  NamedSetting added;
  added.set_name(parameter.name);
  if (parameter.type == Parameter::Type::kInteger) {
    added.set_int64_value(values.Integer(parameter.name));
  } else {
    added.set_string_value(values.Text(parameter.name));
  }
  if (setting.sides != Sides::kServer) *options.add_client_settings() = added;
  if (setting.sides != Sides::kClient) *options.add_server_settings() = added;
}

void AddSettings(const ParameterValues& values,
                 absl::Span<const SettingParameter> settings,
                 ProtocolSetup& setup) {
  for (const SettingParameter& setting : settings) {
    if (!values.Has(setting.parameter.name)) continue;
    // Names of libfabric's layered providers contain a semicolon.
    absl::StrAppend(
        &setup.alias, "_", setting.word,
        absl::StrReplaceAll(values.Text(setting.parameter.name), {{";", "_"}}));
    AddSetting(values, setting, setup.options);
  }
}

std::vector<Parameter> ParametersOf(
    absl::Span<const SettingParameter> settings) {
  std::vector<Parameter> parameters;
  for (const SettingParameter& setting : settings) {
    parameters.push_back(setting.parameter);
  }
  return parameters;
}

Protocol PlainProtocol(const std::string& name, const std::string& summary,
                       const std::vector<SettingParameter>& settings) {
  return {.name = name,
          .summary = summary,
          .parameters = ParametersOf(settings),
          .build = [name, settings](const ParameterValues& values) {
            ProtocolSetup setup;
            setup.alias = absl::StrCat(name, IpVersionSuffix(values));
            AddSettings(values, settings, setup);
            return setup;
          }};
}

std::vector<SettingParameter> SettingsOverConnections(
    absl::string_view what, const std::vector<SettingParameter>& own) {
  std::vector<SettingParameter> settings = {
      TransportSetting(
          absl::StrCat("What carries ", what, ": tcp or unix. Default: tcp.")),
      ConnectionsSetting(),
      CallsPerConnectionSetting("Calls after which a connection is replaced; 0 "
                                "is never. Default: 0.")};
  for (const auto& more : {own, SettingsOfNetwork()}) {
    settings.insert(settings.end(), more.begin(), more.end());
  }
  return settings;
}

SettingParameter TransportSetting(absl::string_view meaning) {
  return {WordParameter("transport", "", meaning),
          SettingParameter::Sides::kServer};
}

SettingParameter CallsPerConnectionSetting(absl::string_view meaning) {
  return {IntegerParameter("calls_per_connection", "", {0}, meaning),
          SettingParameter::Sides::kClient, "calls"};
}

SettingParameter SpinSetting() {
  return {IntegerParameter("spin_us", "", {0},
                           "Microseconds that a worker with nothing to do "
                           "polls before it sleeps. Default: 50 if there "
                           "are CPUs to spare, else 0."),
          SettingParameter::Sides::kServer, "spin"};
}

std::string IpVersionSuffix(const ParameterValues& values) {
  if (!values.Has("ip_version")) return "";
  return absl::StrCat("_ipv", values.Text("ip_version"));
}

}  // namespace distbench::test_builder
