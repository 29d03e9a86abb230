#include "distbench/sequencer/execution/node_shares.h"

#include <memory>
#include <string>
#include <vector>

#include "distbench/sequencer/testing/fake_node.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
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
  EXPECT_EQ(nodes[0].attributes, (config::Attributes{{"rack", "a7"},
                                                     {"node_alias", "node3"},
                                                     {"hostname", "alpha"},
                                                     {"cpu_count", "1"}}));
}

// Binds the node to these CPUs of a host with two NUMA nodes.
void Bind(FakeNode& node, const std::string& cpus) {
  HostTopology& topology = *node.mutable_registration().mutable_topology();
  for (const char* node_cpus : {"0-3", "4-7"}) {
    NumaNode& numa_node = *topology.add_numa_nodes();
    numa_node.set_id(topology.numa_nodes_size() - 1);
    numa_node.set_cpus(node_cpus);
  }
  topology.set_allowed_cpus(cpus);
}

TEST(PlacementNodesTest, KnowsTheNumaNode) {
  const auto bound = Node("node0", "alpha", 2);
  Bind(*bound, "4-5");
  const auto unbound = Node("node1", "alpha", 8);
  Bind(*unbound, "0-7");
  Attribute& attribute = *unbound->mutable_registration().add_attributes();
  attribute.set_name("cpu_count");
  attribute.set_value("few");
  auto nodes = PlacementNodes({bound, unbound});
  EXPECT_EQ(nodes[0].attributes["numa_node"], "1");
  EXPECT_EQ(nodes[0].attributes["numa_node_count"], "2");
  EXPECT_EQ(nodes[1].attributes.count("numa_node"), 0);
  EXPECT_EQ(nodes[1].attributes["cpu_count"], "few");
}

TEST(NodeSharesTest, NodesOnDifferentCpusShareNothing) {
  const auto first = Node("node0", "alpha", 4);
  Bind(*first, "0-3");
  const auto second = Node("node1", "alpha", 4);
  Bind(*second, "4-7");
  const auto shares =
      MakeNodeShares({first, second}, {{"s/0", "s/1"}, {"s/2"}});
  EXPECT_EQ(shares[0].workers_per_instance, 2);
  EXPECT_EQ(shares[1].workers_per_instance, 4);
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
}  // namespace distbench::sequencer
