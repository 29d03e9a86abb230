// Protocols: RPC stacks for which tests can be built, with the options of their
// drivers.

#ifndef DISTBENCH_TEST_BUILDER_PROTOCOLS_PROTOCOL_H_
#define DISTBENCH_TEST_BUILDER_PROTOCOLS_PROTOCOL_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {

struct ProtocolSetup {
  // The driver, and the values that distinguish its variants. Part of the
  // test's name.
  std::string alias;

  // Without name and ip_version.
  ProtocolDriverOptions options;
};

struct Protocol {
  std::string name;  // name of the driver
  std::string summary;
  std::vector<Parameter> parameters;

  // `values` are those of `parameters` and of CommonParameters().
  std::function<ProtocolSetup(const ParameterValues& values)> build;
};

// The one that tests have which name none.
inline constexpr char kDefaultProtocol[] = "grpc";

// The protocols of protocols.cc, and those that products add with
// base::Plugin<test_builder::Protocol> in their plugin.cc, in the order in
// which the help lists them.
const std::vector<Protocol>& AllProtocols();

// Their names.
std::vector<std::string> ProtocolNames();

// Returns null if there is no such protocol.
const Protocol* FindProtocol(absl::string_view name);

// ---- Building blocks of setups ----------------------------------------------

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

#endif  // DISTBENCH_TEST_BUILDER_PROTOCOLS_PROTOCOL_H_
