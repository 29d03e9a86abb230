// All protocols by name: those of this folder, and those that products add with
// base::Plugin<test_builder::Protocol> in their plugin.cc.

#ifndef DISTBENCH_TEST_BUILDER_PROTOCOLS_REGISTRY_H_
#define DISTBENCH_TEST_BUILDER_PROTOCOLS_REGISTRY_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "test_builder/protocols/protocol.h"

namespace distbench::test_builder {

// In the order in which the help lists them.
const std::vector<Protocol>& AllProtocols();

// Their names.
std::vector<std::string> ProtocolNames();

// Returns null if there is no such protocol.
const Protocol* FindProtocol(absl::string_view name);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PROTOCOLS_REGISTRY_H_
