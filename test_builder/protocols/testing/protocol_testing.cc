// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/protocols/testing/protocol_testing.h"

#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/protocols/protocol.h"

namespace distbench::test_builder {

ProtocolSetup MakeSetup(const std::string& protocol, const ValueMap& given) {
  const Protocol& found = *FindProtocol(protocol);
  const auto values = ParameterValues::Resolve(
      Joined(found.parameters(), CommonParameters()), given);
  EXPECT_TRUE(values.ok()) << values.status();
  return SetUp(found, *values);
}

void ExpectOptions(const ProtocolSetup& setup, const std::string& expected) {
  ProtocolDriverOptions options;
  ASSERT_TRUE(
      google::protobuf::TextFormat::ParseFromString(expected, &options));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(setup.options,
                                                                 options))
      << setup.options.DebugString();
}

}  // namespace distbench::test_builder
