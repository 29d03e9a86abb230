// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/numa/topology.h"

#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/numa/testing/fake_host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::numa {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr int64_t kGib = int64_t{1} << 30;

std::vector<std::string> CachesOf(const HostTopology& topology) {
  std::vector<std::string> caches;
  for (const CpuCache& cache : topology.caches()) {
    caches.push_back(absl::StrCat(cache.name(), " ", cache.cpus(), ": ",
                                  cache.size_bytes()));
  }
  return caches;
}

TEST(TopologyTest, OneNode) {
  FakeHost host;
  host.AddNodes({{.id = 0, .cpus = "0-1", .distances = "10"}});
  host.Allow("0-1", "0");
  const HostTopology topology = ReadHostTopology(host.root());
  ASSERT_EQ(topology.numa_nodes_size(), 1);
  EXPECT_EQ(topology.numa_nodes(0).cpus(), "0-1");
  EXPECT_EQ(topology.numa_nodes(0).memory_bytes(), kGib);
  EXPECT_EQ(topology.numa_nodes(0).free_memory_bytes(), kGib / 2);
  EXPECT_THAT(topology.numa_nodes(0).distances(), ElementsAre(10));
  EXPECT_EQ(topology.allowed_cpus(), "0-1");
  EXPECT_EQ(topology.allowed_memory_nodes(), "0");
  EXPECT_THAT(topology.smt_siblings(), IsEmpty());
}

// Two sockets with two threads per core, as lscpu shows them.
TEST(TopologyTest, TwoNodesWithThreadsAndCaches) {
  FakeHost host;
  host.AddNodes({{.id = 0, .cpus = "0-1,4-5", .distances = "10 21"},
                 {.id = 1, .cpus = "2-3,6-7", .distances = "21 10"}});
  for (const char* core : {"0,4", "1,5", "2,6", "3,7"}) host.AddCore(core);
  host.AddCache("0,4", 1, "32K", "Data");
  host.AddCache("0,4", 1, "64K", "Instruction");
  host.AddCache("0-1,4-5", 3, "28M");
  host.AddCache("2-3,6-7", 3, "28160K");
  host.Allow("0-7", "0-1");
  const HostTopology topology = ReadHostTopology(host.root());
  EXPECT_THAT(topology.numa_nodes(1).distances(), ElementsAre(21, 10));
  EXPECT_THAT(topology.smt_siblings(), ElementsAre("0,4", "1,5", "2,6", "3,7"));
  EXPECT_THAT(
      CachesOf(topology),
      UnorderedElementsAre("L1d 0,4: 32768", "L1i 0,4: 65536",
                           "L3 0-1,4-5: 29360128", "L3 2-3,6-7: 28835840"));
  EXPECT_THAT(NodesOfCpus(topology, {5, 6}), ElementsAre(0, 1));
  EXPECT_THAT(CpusOfNodes(topology, {1}), ElementsAre(2, 3, 6, 7));
}

// Sub-NUMA clustering: four nodes on two sockets, each with a cache of its own.
TEST(TopologyTest, MoreNodesThanSockets) {
  FakeHost host;
  host.AddNodes({{.id = 0, .cpus = "0", .distances = "10 12 21 21"},
                 {.id = 1, .cpus = "1", .distances = "12 10 21 21"},
                 {.id = 2, .cpus = "2", .distances = "21 21 10 12"},
                 {.id = 3, .cpus = "3", .distances = "21 21 12 10"}});
  host.AddCache("0-1", 3, "30M");
  host.AddCache("2-3", 3, "30M");
  host.Allow("0-3", "0-3");
  const HostTopology topology = ReadHostTopology(host.root());
  EXPECT_EQ(topology.numa_nodes_size(), 4);
  EXPECT_EQ(topology.caches_size(), 2);
  EXPECT_THAT(NumaNodeIds(topology), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(topology.numa_nodes(3).distances(), ElementsAre(21, 21, 12, 10));
}

TEST(TopologyTest, NodesWithoutMemoryOrCpusAndGapsInTheirNumbers) {
  FakeHost host;
  host.AddNodes({{.id = 0, .cpus = "0-1", .distances = "10 20 40"},
                 {.id = 2, .cpus = "2-3", .memory_kib = 0},
                 {.id = 10, .cpus = ""}});
  host.Write("/sys/devices/system/node/online", "0,2,10\n");
  host.Allow("0-3", "0,10");
  const HostTopology topology = ReadHostTopology(host.root());
  EXPECT_THAT(NumaNodeIds(topology), ElementsAre(0, 2, 10));
  EXPECT_EQ(FindNumaNode(topology, 2)->memory_bytes(), 0);
  EXPECT_EQ(FindNumaNode(topology, 10)->cpus(), "");
  EXPECT_EQ(FindNumaNode(topology, 1), nullptr);
  EXPECT_EQ(DescribeTopology(topology),
            "node 0: CPUs 0-1, 1.0 GiB; node 2: CPUs 2-3, no memory; node 10: "
            "no CPUs, 1.0 GiB; may use CPUs 0-3 and the memory of nodes 0,10");
  host.Allow("0-3", "10");
  EXPECT_THAT(DescribeTopology(ReadHostTopology(host.root())),
              EndsWith("and the memory of node 10"));
}

TEST(TopologyTest, NothingIsKnownOfAnEmptyHost) {
  FakeHost host;
  EXPECT_EQ(ReadHostTopology(host.root()).ByteSizeLong(), 0);
}

TEST(TopologyTest, ThisHost) {
  const HostTopology topology = ReadHostTopology("");
  EXPECT_FALSE(IndicesOf(topology.allowed_cpus()).empty());
  for (const NumaNode& node : topology.numa_nodes()) {
    EXPECT_LE(node.free_memory_bytes(), node.memory_bytes());
    EXPECT_EQ(node.distances_size(), topology.numa_nodes_size());
  }
}

}  // namespace
}  // namespace distbench::numa
