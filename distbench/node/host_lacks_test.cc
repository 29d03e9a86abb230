// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/host_lacks.h"

#include <memory>
#include <string>

#include "distbench/node/testing/two_clients.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message))
      << text;
  return message;
}

// A host of one NUMA node with four CPUs.
NodeRegistration Node() {
  return Parse<NodeRegistration>(R"(
      hostname: 'h'
      version: '2.0'
      topology {
        numa_nodes { id: 0 cpus: '0-3' memory_bytes: 1000000000 distances: 10 }
        allowed_cpus: '0-3' allowed_memory_nodes: '0'
      }
      host { cpu_frequency_governor: 'powersave' }
      drivers: 'grpc' drivers: 'tcp')");
}

std::vector<HostLack> LacksOf(const DistributedSystemDescription& test,
                              const NodeRegistration& node,
                              const NodeExtensions& extensions = {}) {
  return FindLacks(test, {"client/0", "client/1"}, node, extensions);
}

TEST(HostLacksTest, AHostThatHasEverythingLacksNothing) {
  EXPECT_THAT(LacksOf(TwoClients("numa_binding { nodes: '0' }"), Node()),
              IsEmpty());
}

TEST(HostLacksTest, ImpossibleBindingsOfAServiceAreOneLack) {
  const auto lacks =
      LacksOf(TwoClients("numa_binding { nodes: '7' strict: true }"), Node());
  ASSERT_THAT(lacks, SizeIs(1));
  EXPECT_TRUE(lacks[0].is_refusal);
  EXPECT_THAT(lacks[0].message,
              HasSubstr("client/0, client/1: its numa_binding cannot be made"));
}

TEST(HostLacksTest, WithoutABindingThatIsNotStrictTheTestRuns) {
  const auto lacks =
      LacksOf(TwoClients("numa_binding { nodes: '7' strict: false }"), Node());
  ASSERT_THAT(lacks, SizeIs(1));
  EXPECT_FALSE(lacks[0].is_refusal);
}

TEST(HostLacksTest, OnlyInstancesOfTheNodeCount) {
  EXPECT_THAT(FindLacks(TwoClients("numa_binding { nodes: '7' strict: true }"),
                        {"server/0"}, Node(), {}),
              IsEmpty());
}

TEST(HostLacksTest, UnmetRequirementsAreTold) {
  const std::string facts =
      "requirements { facts { name: 'cpu_frequency_governor' "
      "string_value: 'performance' } strict: true }";
  const auto lacks = LacksOf(TwoClients("", facts), Node());
  ASSERT_THAT(lacks, SizeIs(1));
  EXPECT_THAT(lacks[0].message,
              AllOf(HasSubstr("does not meet"), HasSubstr("powersave"),
                    HasSubstr("strict: false")));
}

TEST(HostLacksTest, DriversThatAProgramLacksAreTold) {
  NodeRegistration node = Node();
  node.clear_drivers();
  EXPECT_THAT(LacksOf(TwoClients(""), node), IsEmpty()) << "not known";
  node.add_drivers("tcp");
  const auto lacks = LacksOf(TwoClients("", "default_protocol: 'grpc'"), node);
  ASSERT_THAT(lacks, SizeIs(1));
  EXPECT_THAT(lacks[0].message,
              HasSubstr("client: its program lacks the protocol driver grpc; "
                        "it has tcp"));
}

// The node said nothing, which is not that it has nothing.
TEST(HostLacksTest, OfAnOlderNodeNothingIsMissed) {
  NodeRegistration node = Node();
  node.clear_host();
  EXPECT_FALSE(SaysWhatItHas(node));
  EXPECT_TRUE(SaysWhatItHas(Node()));
  const std::string facts =
      "requirements { facts { name: 'cpu_frequency_governor' "
      "string_value: 'performance' } }";
  EXPECT_THAT(LacksOf(TwoClients("", facts), node), IsEmpty());
}

TEST(HostLacksTest, ProductsAreAsked) {
  class Extension final : public NodeExtension {
   public:
    std::vector<HostLack> FindLacks(
        const HostFacts& facts, const DistributedSystemDescription&,
        const std::vector<std::string>& instances) const override {
      EXPECT_THAT(instances, SizeIs(2));
      EXPECT_EQ(facts.topology().numa_nodes_size(), 1);
      return {{"no cheese", false}};
    }
  };
  const Extension extension;
  const auto lacks = LacksOf(TwoClients(""), Node(), {{"mouse", &extension}});
  ASSERT_THAT(lacks, SizeIs(1));
  EXPECT_EQ(lacks[0].message, "no cheese");
}

}  // namespace
}  // namespace distbench::node
