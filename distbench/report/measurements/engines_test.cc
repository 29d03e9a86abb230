// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/engines.h"

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TestResult FromText(const std::string& text) {
  TestResult result;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &result));
  return result;
}

TEST(EnginesOf, AreNoneIfNodesHostEverythingThemselves) {
  EXPECT_THAT(EnginesOf(FromText(R"(
    placement { service_endpoints {
      key: "client/0" value { node_alias: "node0" } } })")),
              IsEmpty());
}

TEST(EnginesOf, SaysWhoHostedWhatAndWithWhichVersions) {
  const std::vector<EngineUse> uses = EnginesOf(FromText(R"(
    placement {
      service_endpoints { key: "client/0" value { node_alias: "node0" } }
      service_endpoints { key: "server/0"
                          value { node_alias: "node1" engine: "new" } }
      service_endpoints { key: "server/1"
                          value { node_alias: "node2" engine: "new" } }
    }
    resource_usage_logs {
      node_resources { key: "node0" value {
        host { versions { key: "grpc" value: "1.51.1" } } } }
      node_resources { key: "node1" value { engines {
        name: "new" versions { key: "grpc" value: "1.71.0" } } } }
      node_resources { key: "node2" value { engines {
        name: "new" versions { key: "grpc" value: "1.71.2" } } } }
    })"));
  ASSERT_EQ(uses.size(), 2);
  EXPECT_EQ(uses[0].name, "");
  EXPECT_THAT(uses[0].texts, ElementsAre("own program (gRPC 1.51.1)"));
  EXPECT_THAT(uses[0].instance_counts, ElementsAre(Pair("client", 1)));
  EXPECT_EQ(uses[1].name, "new");
  EXPECT_THAT(uses[1].texts,
              ElementsAre("new (gRPC 1.71.0)", "new (gRPC 1.71.2)"));
  EXPECT_THAT(uses[1].instance_counts, ElementsAre(Pair("server", 2)));
}

TEST(EnginesOf, NamesAnEngineOfALostNode) {
  const std::vector<EngineUse> uses = EnginesOf(FromText(R"(
    placement { service_endpoints {
      key: "client/0" value { node_alias: "node0" engine: "new" } } })"));
  ASSERT_EQ(uses.size(), 1);
  EXPECT_THAT(uses[0].texts, ElementsAre("new"));
}

}  // namespace
}  // namespace distbench::report
