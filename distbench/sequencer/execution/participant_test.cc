// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/participant.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/sequencer/testing/fake_node.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class ParticipantsTest : public testing::Test {
 protected:
  static std::vector<NodeShare> Shares(int count) {
    std::vector<NodeShare> shares;
    for (int i = 0; i < count; ++i) {
      shares.push_back(
          {.node = std::make_shared<FakeNode>(absl::StrCat("node", i))});
    }
    return shares;
  }

  Participant& At(int position) { return *(participants_.begin() + position); }

  Participants participants_{Shares(30)};
};

TEST_F(ParticipantsTest, AreFoundByTheirNodes) {
  for (Participant& participant : participants_) {
    EXPECT_EQ(participants_.Find(participant.share.node.get()), &participant);
  }
  const FakeNode stranger("node1");
  EXPECT_EQ(participants_.Find(&stranger), nullptr);
}

TEST_F(ParticipantsTest, AreCountedWhileTheyAreBusy) {
  participants_.Begin(At(1), Step::kStart);
  participants_.Begin(At(1), Step::kStart);
  participants_.Begin(At(1), Step::kTraffic);
  participants_.Begin(At(2), Step::kTraffic);
  EXPECT_EQ(participants_.CountAwaiting(Step::kStart), 1);
  EXPECT_EQ(participants_.CountAwaiting(Step::kTraffic), 2);
  EXPECT_TRUE(participants_.Awaits(At(1), Step::kStart));

  EXPECT_TRUE(participants_.End(At(1), Step::kStart));
  EXPECT_FALSE(participants_.End(At(1), Step::kStart)) << "once is enough";
  EXPECT_EQ(participants_.CountAwaiting(Step::kStart), 0);

  participants_.EndAll(At(1));
  EXPECT_FALSE(participants_.Awaits(At(1), Step::kTraffic));
  EXPECT_EQ(participants_.CountAwaiting(Step::kTraffic), 1);
  EXPECT_EQ(participants_.WhoAwaits(Step::kTraffic),
            "node2 (host host-of-node2)");
}

TEST_F(ParticipantsTest, ManyNodesAreNamedInFewWords) {
  for (const int i : {3, 4}) participants_.Begin(At(i), Step::kCollect);
  EXPECT_EQ(participants_.WhoAwaits(Step::kCollect),
            "node3 (host host-of-node3), node4 (host host-of-node4)");
  for (int i = 0; i < 30; ++i) {
    if (i != 7) participants_.Begin(At(i), Step::kCollect);
  }
  EXPECT_EQ(participants_.WhoAwaits(Step::kCollect),
            "29 nodes (node0-6,8-29; the first is node0 (host host-of-node0))");
}

// The status of a call has room for no more than some kilobytes.
TEST_F(ParticipantsTest, NodesHereAndThereAreNotAllNamed) {
  Participants many(Shares(6000));
  for (int i = 0; i < 6000; i += 2) {
    many.Begin(*(many.begin() + i), Step::kCollect);
  }
  const std::string names = many.WhoAwaits(Step::kCollect);
  EXPECT_LT(names.size(), 2200);
  EXPECT_THAT(names, StartsWith("3000 nodes (node0,2,4,6,"));
  EXPECT_THAT(names, ContainsRegex(",[0-9]+ and others; the first is node0"));
}

TEST_F(ParticipantsTest, LossesOfOneKindAreOneMessage) {
  LostNodes lost;
  EXPECT_THAT(lost.Messages(), IsEmpty());
  lost.Add(At(29), Step::kConnect, "its connection broke");
  for (int i = 0; i < 12; ++i) lost.Add(At(i), Step::kTraffic, "gone");
  lost.Add(At(28), Step::kConnect, "its connection broke");
  EXPECT_THAT(
      lost.Messages(),
      ElementsAre("node29 (host host-of-node29), node28 (host host-of-node28) "
                  "were lost while the instances were connected: its "
                  "connection broke",
                  "12 nodes (node0-11; the first is node0 (host "
                  "host-of-node0)) were lost during the traffic: gone"));
}

NodeRegistration OnHost(const std::string& hostname, int cpu_count) {
  NodeRegistration registration;
  registration.set_hostname(hostname);
  registration.set_cpu_count(cpu_count);
  return registration;
}

NodeRegistration With(const std::string& name, const std::string& value,
                      NodeRegistration registration) {
  Attribute& attribute = *registration.add_attributes();
  attribute.set_name(name);
  attribute.set_value(value);
  return registration;
}

std::shared_ptr<FakeNode> Node(const std::string& alias,
                               const std::string& hostname, int cpu_count) {
  return std::make_shared<FakeNode>(alias, OnHost(hostname, cpu_count));
}

TEST(PlacementNodesTest, KnowsAttributesAndAlias) {
  const auto nodes = PlacementNodes({std::make_shared<FakeNode>(
      "node3", With("rack", "a7", OnHost("alpha", 1)))});
  ASSERT_THAT(nodes, SizeIs(1));
  EXPECT_EQ(nodes[0].alias, "node3");
  EXPECT_EQ(nodes[0].attributes, (config::Attributes{{"rack", "a7"},
                                                     {"node_alias", "node3"},
                                                     {"hostname", "alpha"},
                                                     {"cpu_count", "1"}}));
}

// Binds the node to these CPUs of a host with two NUMA nodes.
NodeRegistration BoundTo(const std::string& cpus,
                         NodeRegistration registration) {
  HostTopology& topology = *registration.mutable_topology();
  for (const char* node_cpus : {"0-3", "4-7"}) {
    NumaNode& numa_node = *topology.add_numa_nodes();
    numa_node.set_id(topology.numa_nodes_size() - 1);
    numa_node.set_cpus(node_cpus);
  }
  topology.set_allowed_cpus(cpus);
  return registration;
}

TEST(PlacementNodesTest, KnowsTheNumaNode) {
  const auto bound =
      std::make_shared<FakeNode>("node0", BoundTo("4-5", OnHost("alpha", 2)));
  const auto unbound = std::make_shared<FakeNode>(
      "node1", With("cpu_count", "few", BoundTo("0-7", OnHost("alpha", 8))));
  auto nodes = PlacementNodes({bound, unbound});
  EXPECT_EQ(nodes[0].attributes["numa_node"], "1");
  EXPECT_EQ(nodes[0].attributes["numa_node_count"], "2");
  EXPECT_EQ(nodes[1].attributes.count("numa_node"), 0);
  EXPECT_EQ(nodes[1].attributes["cpu_count"], "few");
}

TEST(NodeSharesTest, NodesOnDifferentCpusShareNothing) {
  const auto first =
      std::make_shared<FakeNode>("node0", BoundTo("0-3", OnHost("alpha", 4)));
  const auto second =
      std::make_shared<FakeNode>("node1", BoundTo("4-7", OnHost("alpha", 4)));
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

TEST(NodeSharesTest, HostsOfOneNameShareNothing) {
  NodeRegistration host = OnHost("localhost", 8);
  std::vector<std::shared_ptr<NodeSession>> nodes;
  for (const char* boot_id : {"1", "2", "1"}) {
    host.set_boot_id(boot_id);
    nodes.push_back(std::make_shared<FakeNode>("node", host));
  }
  const auto shares = MakeNodeShares(nodes, {{"s/0"}, {"s/1"}, {"s/2"}});
  EXPECT_EQ(shares[0].workers_per_instance, 4);
  EXPECT_EQ(shares[1].workers_per_instance, 8);
  EXPECT_EQ(shares[2].workers_per_instance, 4);
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
