// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What tests of protocols ask of them.

#ifndef DISTBENCH_TEST_BUILDER_PROTOCOLS_TESTING_PROTOCOL_TESTING_H_
#define DISTBENCH_TEST_BUILDER_PROTOCOLS_TESTING_PROTOCOL_TESTING_H_

#include <string>

#include "test_builder/parameters/parameter.h"
#include "test_builder/protocols/protocol.h"

namespace distbench::test_builder {

// Builds a protocol that there must be, with the given parameters.
ProtocolSetup MakeSetup(const std::string& protocol, const ValueMap& given);

// Expects these options, as text of a ProtocolDriverOptions.
void ExpectOptions(const ProtocolSetup& setup, const std::string& expected);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PROTOCOLS_TESTING_PROTOCOL_TESTING_H_
