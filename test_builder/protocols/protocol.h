// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The protocols (protocol.proto), and the options of drivers that they make of
// their parameters. These are settings of the drivers, as the catalog of
// drivers declares them.

#ifndef DISTBENCH_TEST_BUILDER_PROTOCOLS_PROTOCOL_H_
#define DISTBENCH_TEST_BUILDER_PROTOCOLS_PROTOCOL_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/protocols/protocol.pb.h"

namespace distbench::test_builder {

struct ProtocolSetup {
  // The driver, and the values that distinguish its variants. Part of the
  // test's name.
  std::string alias;

  // Without name and ip_version.
  ProtocolDriverOptions options;
};

// The one that tests have which name none.
inline constexpr char kDefaultProtocol[] = "grpc";

// What a product adds with base::Plugin<test_builder::ProtocolText> in its
// plugin.cc: a Protocol in text format.
struct ProtocolText {
  absl::string_view text;
};

// The protocols of protocols.yaml, and those of products, in the order in which
// the help lists them.
const std::vector<Protocol>& AllProtocols();

// Their names.
std::vector<std::string> ProtocolNames();

// Returns null if there is no such protocol.
const Protocol* FindProtocol(absl::string_view name);

// The options of a protocol of AllProtocols(), and what they are called.
// `values` are those of its parameters and of CommonParameters().
ProtocolSetup SetUp(const Protocol& protocol, const ParameterValues& values);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PROTOCOLS_PROTOCOL_H_
