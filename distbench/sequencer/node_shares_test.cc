#include "distbench/sequencer/node_shares.h"

#include <memory>
#include <string>
#include <vector>

#include "distbench/sequencer/fake_node.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::shared_ptr<FakeNode> Node(const std::string& alias,
                               const std::string& hostname, int cpu_count) {
  auto node = std::make_shared<FakeNode>(alias);
  node->mutable_registration().set_hostname(hostname);
  node->mutable_registration().set_cpu_count(cpu_count);
  return node;
}

TEST(PlacementNodesTest, KnowsAttributesAndAlias) {
  const auto node = Node("node3", "alpha", 1);
  Attribute& attribute = *node->mutable_registration().add_attributes();
  attribute.set_name("rack");
  attribute.set_value("a7");
  const auto nodes = PlacementNodes({node});
  ASSERT_THAT(nodes, SizeIs(1));
  EXPECT_EQ(nodes[0].alias, "node3");
  EXPECT_EQ(nodes[0].attributes,
            (Attributes{{"rack", "a7"}, {"node_alias", "node3"}}));
}

TEST(NodeSharesTest, LeavesOutNodesWithoutAPart) {
  const auto shares = MakeNodeShares(
      {Node("node0", "alpha", 1), Node("node1", "beta", 1)}, {{}, {"s/0"}});
  ASSERT_THAT(shares, SizeIs(1));
  EXPECT_EQ(shares[0].node->alias(), "node1");
  EXPECT_THAT(shares[0].instances, ElementsAre("s/0"));
}

TEST(NodeSharesTest, InstancesOfAHostShareItsCores) {
  const auto shares =
      MakeNodeShares({Node("node0", "alpha", 8), Node("node1", "alpha", 8),
                      Node("node2", "beta", 8), Node("node3", "alpha", 8)},
                     {{"s/0", "s/1"}, {"s/2"}, {"s/3"}, {}});
  ASSERT_THAT(shares, SizeIs(3));
  EXPECT_EQ(shares[0].workers_per_instance, 2);
  EXPECT_EQ(shares[1].workers_per_instance, 2);
  EXPECT_EQ(shares[2].workers_per_instance, 8);
}

TEST(NodeSharesTest, EveryInstanceHasAWorker) {
  const auto shares =
      MakeNodeShares({Node("node0", "alpha", 2), Node("node1", "beta", 0)},
                     {{"s/0", "s/1", "s/2"}, {"s/3"}});
  EXPECT_EQ(shares[0].workers_per_instance, 1);
  EXPECT_EQ(shares[1].workers_per_instance, 1);
}

}  // namespace
}  // namespace distbench
