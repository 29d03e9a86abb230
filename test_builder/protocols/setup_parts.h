// Building blocks of protocol setups.

#ifndef DISTBENCH_TEST_BUILDER_PROTOCOLS_SETUP_PARTS_H_
#define DISTBENCH_TEST_BUILDER_PROTOCOLS_SETUP_PARTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/protocols/protocol.h"

namespace distbench::test_builder {

// A parameter that, if it is given, becomes a setting of the same name.
struct SettingParameter {
  enum class Sides { kClient, kServer, kBoth };

  Parameter parameter;
  Sides sides;
  std::string word = {};  // precedes the value in the alias
};

// Adds the value, which there must be, on the parameter's sides.
void AddSetting(const ParameterValues& values, const SettingParameter& setting,
                ProtocolDriverOptions& options);

// Adds those that are given to the settings and, as "_WORDVALUE", to the alias.
void AddSettings(const ParameterValues& values,
                 absl::Span<const SettingParameter> settings,
                 ProtocolSetup& setup);

std::vector<Parameter> ParametersOf(
    absl::Span<const SettingParameter> settings);

// A protocol whose parameters are settings of its driver.
Protocol PlainProtocol(const std::string& name, const std::string& summary,
                       const std::vector<SettingParameter>& settings);

// The settings of a driver over TCP connections, which carry `what`: those that
// all have, its own, and those of the network.
std::vector<SettingParameter> SettingsOverConnections(
    absl::string_view what, const std::vector<SettingParameter>& own);

// Parameters that several protocols have.
SettingParameter TransportSetting(absl::string_view meaning);
SettingParameter CallsPerConnectionSetting(absl::string_view meaning);
SettingParameter SpinSetting();

// "_ipv4", "_ipv6" or empty.
std::string IpVersionSuffix(const ParameterValues& values);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PROTOCOLS_SETUP_PARTS_H_
