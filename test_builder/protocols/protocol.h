// Protocols: RPC stacks for which tests can be built, with the options of their
// drivers.

#ifndef DISTBENCH_TEST_BUILDER_PROTOCOLS_PROTOCOL_H_
#define DISTBENCH_TEST_BUILDER_PROTOCOLS_PROTOCOL_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
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

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PROTOCOLS_PROTOCOL_H_
