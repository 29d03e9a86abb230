// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/host_check.h"

#include <string>

#include "distbench/node/testing/two_clients.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

GetStatusResponse Nodes(int count) {
  GetStatusResponse status;
  for (int i = 0; i < count; ++i) {
    NodeStatus& node = *status.add_nodes();
    node.mutable_config()->set_node_alias("node" + std::to_string(i));
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        R"(hostname: 'h' version: '2.0'
           topology {
             numa_nodes { id: 0 cpus: '0-3' memory_bytes: 1 distances: 10 }
             allowed_cpus: '0-3' allowed_memory_nodes: '0'
           }
           host { network_devices { name: 'eth0' } })",
        node.mutable_registration()));
  }
  return status;
}

TEST(HostCheckTest, NodesThatHaveEverything) {
  const HostCheck check = CheckNodes(node::TwoClients(""), Nodes(3));
  EXPECT_THAT(check.problems, IsEmpty());
  EXPECT_THAT(check.warnings, IsEmpty());
}

TEST(HostCheckTest, TooFewNodesAreAProblem) {
  EXPECT_THAT(CheckNodes(node::TwoClients(""), Nodes(2)).problems,
              ElementsAre(HasSubstr("needs 3 nodes but 2 are registered")));
}

TEST(HostCheckTest, WhatNodesLackAlikeIsOneSentence) {
  const HostCheck check =
      CheckNodes(node::TwoClients("",
                                  "protocol_driver_options { name: "
                                  "'default_protocol_driver_options' "
                                  "netdev_name: 'ib0' }"),
                 Nodes(3));
  EXPECT_THAT(check.warnings,
              ElementsAre(AllOf(
                  HasSubstr("node0 (host h), node1 (host h), node2 (host h): "),
                  HasSubstr("\"ib0\"; this host has: eth0"))));
}

TEST(HostCheckTest, NodesThatSayNothingAreNamed) {
  GetStatusResponse status = Nodes(3);
  status.mutable_nodes(1)->mutable_registration()->clear_host();
  status.mutable_nodes(1)->mutable_registration()->set_version("1.0");
  const HostCheck check = CheckNodes(node::TwoClients(""), status);
  EXPECT_THAT(check.problems, IsEmpty());
  EXPECT_THAT(check.warnings,
              ElementsAre(AllOf(HasSubstr("node1 (host h): distbench 1.0"),
                                HasSubstr("does not say"))));
}

// One host runs all instances, which many nodes would share.
TEST(HostCheckTest, OneHostNeedsNoNodes) {
  const NodeRegistration host = Nodes(1).nodes(0).registration();
  EXPECT_THAT(CheckHost(node::TwoClients(""), host).problems, IsEmpty());
  EXPECT_THAT(
      CheckHost(node::TwoClients("numa_binding { nodes: '7' strict: true }"),
                host)
          .problems,
      ElementsAre(HasSubstr("client/0, client/1: its numa_binding")));
}

}  // namespace
}  // namespace distbench::cli
