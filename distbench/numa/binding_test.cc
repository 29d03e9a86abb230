// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/numa/binding.h"

#include <string>

#include "absl/status/status.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/numa/testing/fake_host.h"
#include "distbench/numa/topology.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::numa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto Binding = base::FromText<NumaBinding>;

HostTopology TwoNodes(const std::string& cpus = "0-7",
                      const std::string& memory = "0-1") {
  FakeHost host;
  host.AddNodes({{.id = 0, .cpus = "0-3", .distances = "10 21"},
                 {.id = 1, .cpus = "4-7", .distances = "21 10"}});
  host.Allow(cpus, memory);
  return ReadHostTopology(host.root());
}

// Node 1 has no memory, and node 2 no CPUs.
HostTopology UnevenNodes() {
  FakeHost host;
  host.AddNodes({{.id = 0, .cpus = "0-1"},
                 {.id = 1, .cpus = "2-3", .memory_kib = 0},
                 {.id = 2, .cpus = ""}});
  host.Allow("0-3", "0,2");
  return ReadHostTopology(host.root());
}

ResolvedBinding Resolved(const std::string& text, const HostTopology& topology,
                         int instance = 0) {
  const absl::StatusOr<ResolvedBinding> resolved =
      ResolveBinding(Binding(text), instance, topology);
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  return resolved.value_or(ResolvedBinding{});
}

std::string ErrorOf(const std::string& text, const HostTopology& topology) {
  const absl::Status status =
      ResolveBinding(Binding(text), 0, topology).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  return std::string(status.message());
}

TEST(BindingTest, AskedForNothingIsEverything) {
  const ResolvedBinding resolved = Resolved("", TwoNodes());
  EXPECT_THAT(resolved.cpus, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(resolved.policy, NumaBinding::LOCAL);
  EXPECT_THAT(resolved.memory_nodes, IsEmpty());
  EXPECT_EQ(DescribeBinding(resolved.proto), "CPUs 0-7, memory local");
}

TEST(BindingTest, NodesBindMemoryToo) {
  const ResolvedBinding resolved = Resolved("nodes: '1'", TwoNodes());
  EXPECT_THAT(resolved.cpus, ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(resolved.policy, NumaBinding::BIND);
  EXPECT_THAT(resolved.memory_nodes, ElementsAre(1));
  EXPECT_EQ(DescribeBinding(resolved.proto),
            "CPUs 4-7, memory bound to node 1");
  EXPECT_TRUE(resolved.proto.strict());
}

TEST(BindingTest, CpusLeaveMemoryLocal) {
  const ResolvedBinding resolved = Resolved("cpus: '2,5'", TwoNodes());
  EXPECT_EQ(resolved.policy, NumaBinding::LOCAL);
  EXPECT_EQ(resolved.proto.nodes(), "0-1");
}

TEST(BindingTest, RemoteMemory) {
  const ResolvedBinding resolved =
      Resolved("nodes: '0' memory_nodes: '1'", TwoNodes());
  EXPECT_THAT(resolved.cpus, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(resolved.memory_nodes, ElementsAre(1));
}

TEST(BindingTest, Policies) {
  EXPECT_EQ(
      DescribeBinding(Resolved("memory_policy: INTERLEAVE", TwoNodes()).proto),
      "CPUs 0-7, memory interleaved over nodes 0-1");
  EXPECT_EQ(
      DescribeBinding(
          Resolved("nodes: '1' memory_policy: PREFERRED", TwoNodes()).proto),
      "CPUs 4-7, memory preferred of node 1");
  EXPECT_EQ(DescribeBinding(
                Resolved("nodes: '1' memory_policy: LOCAL", TwoNodes()).proto),
            "CPUs 4-7, memory local");
}

TEST(BindingTest, SpreadGivesEachInstanceItsNode) {
  const auto node_of = [](const std::string& text, int instance) {
    return Resolved(text, TwoNodes(), instance).proto.nodes();
  };
  for (int instance = 0; instance < 6; ++instance) {
    EXPECT_EQ(node_of("spread: true", instance), instance % 2 ? "1" : "0");
    EXPECT_EQ(node_of("spread: true instances_per_node: 2", instance),
              instance / 2 % 2 ? "1" : "0");
    EXPECT_EQ(node_of("nodes: '1' spread: true", instance), "1");
  }
  EXPECT_THAT(Resolved("spread: true", TwoNodes(), 1).memory_nodes,
              ElementsAre(1));
  // Nodes without CPUs are skipped.
  EXPECT_EQ(Resolved("spread: true memory_policy: LOCAL", UnevenNodes(), 2)
                .proto.nodes(),
            "0");
}

TEST(BindingTest, TakesWhatTheCpusetLeavesOfANode) {
  EXPECT_THAT(Resolved("nodes: '0'", TwoNodes("1-2,4")).cpus,
              ElementsAre(1, 2));
}

TEST(BindingTest, SaysWhyItIsImpossible) {
  EXPECT_EQ(ErrorOf("nodes: '0,3'", TwoNodes()),
            "nodes: the host has no NUMA node 3; it has nodes 0-1");
  EXPECT_THAT(ErrorOf("nodes: '1'", TwoNodes("0-3")),
              HasSubstr("none of the CPUs of NUMA node 1 (4-7) is among those "
                        "that the process may use (0-3)"));
  EXPECT_EQ(ErrorOf("cpus: '3-9'", TwoNodes()),
            "cpus: 8-9 cannot be used; the process may use CPUs 0-7");
  EXPECT_THAT(ErrorOf("nodes: '1'", TwoNodes("0-7", "0")),
              HasSubstr("may not use memory of NUMA node 1, only of 0"));
  EXPECT_EQ(ErrorOf("memory_nodes: '7'", TwoNodes()),
            "memory_nodes: the host has no NUMA node 7; it has nodes 0-1");
  EXPECT_THAT(ErrorOf("nodes: '1'", UnevenNodes()),
              HasSubstr("NUMA node 1 has no memory"));
  EXPECT_THAT(ErrorOf("nodes: '2'", UnevenNodes()),
              HasSubstr("NUMA node 2 has no CPUs"));
  EXPECT_THAT(ErrorOf("nodes: '0'", HostTopology()),
              HasSubstr("has none that its kernel reports"));
}

TEST(BindingTest, ListsThatAreNone) {
  for (const char* text :
       {"nodes: 'a'", "cpus: '1-'", "nodes: '0' memory_nodes: ','"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        ResolveBinding(Binding(text), 0, TwoNodes()).status()))
        << text;
  }
}

}  // namespace
}  // namespace distbench::numa
