#include "test_builder/protocols/setup_parts.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace distbench::test_builder {
namespace {

void SetText(const ParameterValues& values, absl::string_view name,
             NamedSetting& setting) {
  setting.set_name(std::string(name));
  setting.set_string_value(values.Text(name));
}

void SetInteger(const ParameterValues& values, absl::string_view name,
                NamedSetting& setting) {
  setting.set_name(std::string(name));
  setting.set_int64_value(values.Integer(name));
}

void AddSetting(const ParameterValues& values, const Parameter& parameter,
                NamedSetting& setting) {
  if (parameter.type == Parameter::Type::kInteger) {
    SetInteger(values, parameter.name, setting);
  } else {
    SetText(values, parameter.name, setting);
  }
}

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

void AddSettings(const ParameterValues& values,
                 absl::Span<const SettingParameter> settings,
                 ProtocolSetup& setup) {
  using Sides = SettingParameter::Sides;
  for (const auto& [parameter, sides, word] : settings) {
    if (!values.Has(parameter.name)) continue;
    // Names of libfabric's layered providers contain a semicolon.
    absl::StrAppend(
        &setup.alias, "_", word,
        absl::StrReplaceAll(values.Text(parameter.name), {{";", "_"}}));
    if (sides != Sides::kServer) {
      AddSetting(values, parameter, *setup.options.add_client_settings());
    }
    if (sides != Sides::kClient) {
      AddSetting(values, parameter, *setup.options.add_server_settings());
    }
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

void AddServerText(const ParameterValues& values, absl::string_view name,
                   ProtocolDriverOptions& options) {
  SetText(values, name, *options.add_server_settings());
}

void AddServerInteger(const ParameterValues& values, absl::string_view name,
                      ProtocolDriverOptions& options) {
  SetInteger(values, name, *options.add_server_settings());
}

void AddClientText(const ParameterValues& values, absl::string_view name,
                   ProtocolDriverOptions& options) {
  SetText(values, name, *options.add_client_settings());
}

std::vector<Parameter> ThreadPoolParameters() {
  return {WordParameter("threadpool_type", "",
                        "Pool of handler threads: elastic, simple, null or "
                        "mercury. Default: the driver's choice."),
          IntegerParameter("threadpool_size", "0", {0},
                           "Handler threads; 0: the driver's choice.")};
}

void AddThreadPool(const ParameterValues& values,
                   ProtocolDriverOptions& options) {
  if (values.Has("threadpool_type")) {
    AddServerText(values, "threadpool_type", options);
  }
  if (values.Integer("threadpool_size") > 0) {
    AddServerInteger(values, "threadpool_size", options);
  }
}

std::string ThreadPoolTypeSuffix(const ParameterValues& values) {
  if (!values.Has("threadpool_type")) return "";
  return absl::StrCat("_", values.Text("threadpool_type"));
}

std::string ThreadPoolSizeSuffix(const ParameterValues& values) {
  if (values.Integer("threadpool_size") == 0) return "";
  return absl::StrCat("_", values.Text("threadpool_size"));
}

std::string IpVersionSuffix(const ParameterValues& values) {
  if (!values.Has("ip_version")) return "";
  return absl::StrCat("_ipv", values.Text("ip_version"));
}

}  // namespace distbench::test_builder
