#include "distbench/products/search/cpu_slices.h"

#include <string>
#include <vector>

#include "distbench/products/search/system_copies.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

HostTopology Topology(const std::string& allowed,
                      const std::vector<std::string>& siblings = {}) {
  HostTopology topology;
  topology.set_allowed_cpus(allowed);
  for (const std::string& cpus : siblings) topology.add_smt_siblings(cpus);
  return topology;
}

TEST(SliceCpusTest, SlicesAreContiguousCores) {
  EXPECT_THAT(*SliceCpus(Topology("0-7"), 2), ElementsAre("0-3", "4-7"));
  EXPECT_THAT(*SliceCpus(Topology("0-6"), 3), ElementsAre("0-1", "2-3", "4-6"));
  EXPECT_THAT(*SliceCpus(Topology("2,5-6"), 1), ElementsAre("2,5-6"));
}

// As most x86 hosts number them: the second CPU of core 0 is 4.
TEST(SliceCpusTest, SiblingsStayTogether) {
  EXPECT_THAT(*SliceCpus(Topology("0-7", {"0,4", "1,5", "2,6", "3,7"}), 2),
              ElementsAre("0-1,4-5", "2-3,6-7"));
}

// Neighbouring numbers, as on other hosts; a core of which one CPU may be used.
TEST(SliceCpusTest, OnlyAllowedCpusAreUsed) {
  EXPECT_THAT(*SliceCpus(Topology("1-5", {"0-1", "2-3", "4-5"}), 3),
              ElementsAre("1", "2-3", "4-5"));
}

TEST(SliceCpusTest, ACoreCannotBeDivided) {
  EXPECT_THAT(SliceCpus(Topology("0-1", {"0-1"}), 2).status().message(),
              HasSubstr("the host has 1 cores for 2 instances"));
}

void AddNode(const std::string& host, const std::string& allowed,
             GetStatusResponse& status) {
  NodeRegistration& node = *status.add_nodes()->mutable_registration();
  node.set_hostname(host);
  *node.mutable_topology() = Topology(allowed);
}

TEST(SliceHostTest, UsesWhatAllNodesMay) {
  GetStatusResponse status;
  AddNode("a", "0-7", status);
  AddNode("a", "2-9", status);
  EXPECT_THAT(*SliceHost(status, 2), ElementsAre("2-4", "5-7"));
}

TEST(SliceHostTest, NeedsOneHost) {
  GetStatusResponse status;
  EXPECT_FALSE(SliceHost(status, 1).ok());
  AddNode("a", "0-7", status);
  EXPECT_TRUE(IsOneHost(status));
  AddNode("b", "0-7", status);
  EXPECT_FALSE(IsOneHost(status));
  EXPECT_THAT(SliceHost(status, 1).status().message(),
              HasSubstr("all nodes are on one host"));
}

DistributedSystemDescription TwoServices() {
  DistributedSystemDescription test;
  test.add_services()->set_name("client");
  test.add_services()->set_name("server");
  return test;
}

TEST(BindCopiesTest, AllServicesOfACopyShareItsSlice) {
  DistributedSystemDescription test = ReplicateSystem(TwoServices(), 2);
  ASSERT_TRUE(BindCopies({"0-3", "4-7"}, test).ok());
  for (const ServiceSpec& service : test.services()) {
    EXPECT_EQ(service.numa_binding().cpus(),
              service.name()[0] == '1' ? "0-3" : "4-7")
        << service.name();
  }
}

TEST(BindCopiesTest, ASingleCopyHasItsOwnNames) {
  DistributedSystemDescription test = TwoServices();
  ASSERT_TRUE(BindCopies({"0-3"}, test).ok());
  EXPECT_EQ(test.services(1).numa_binding().cpus(), "0-3");
}

TEST(BindCopiesTest, OwnBindingsAreNotOverruled) {
  DistributedSystemDescription test = TwoServices();
  test.mutable_services(1)->mutable_numa_binding()->set_nodes("0");
  EXPECT_THAT(BindCopies({"0-3"}, test).message(),
              HasSubstr("services[\"server\"].numa_binding"));
}

}  // namespace
}  // namespace distbench::search
