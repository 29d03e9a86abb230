// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/proc_files.h"

#include <string>

#include "distbench/numa/testing/fake_host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class EnergyTest : public testing::Test {
 protected:
  void WriteZone(const std::string& zone, const std::string& name,
                 const std::string& energy_uj) {
    const std::string folder = "/sys/class/powercap/" + zone;
    host_.Write(folder + "/name", name + "\n");
    host_.Write(folder + "/max_energy_range_uj", "1000\n");
    if (!energy_uj.empty()) host_.Write(folder + "/energy_uj", energy_uj);
  }

  numa::FakeHost host_;
};

TEST_F(EnergyTest, NamesDomainsWithTheirParents) {
  WriteZone("intel-rapl:0", "package-0", "10\n");
  WriteZone("intel-rapl:0:1", "dram", "20\n");
  WriteZone("intel-rapl:1", "package-1", "30\n");
  WriteZone("intel-rapl-mmio:0", "package-0", "99\n");
  const auto counters = ReadEnergy(host_.root());
  ASSERT_TRUE(counters.ok()) << counters.status();
  EXPECT_EQ(counters->size(), 3u);
  EXPECT_EQ(counters->at("package-0").value_uj, 10);
  EXPECT_EQ(counters->at("package-0").range_uj, 1000);
  EXPECT_EQ(counters->at("package-0/dram").value_uj, 20);
  EXPECT_EQ(counters->at("package-1").value_uj, 30);
}

TEST_F(EnergyTest, SaysWhyThereIsNone) {
  EXPECT_THAT(ReadEnergy(host_.root()).status().message(),
              HasSubstr("the host has no counters of energy"));
  WriteZone("intel-rapl:0", "package-0", "");
  EXPECT_THAT(ReadEnergy(host_.root()).status().message(),
              HasSubstr("cannot be read; run the node manager as root"));
}

TEST(EnergyBetweenTest, CountersBeginAgain) {
  EXPECT_THAT(EnergyBetween({{"a", {900, 1000}}, {"b", {10, 1000}}},
                            {{"a", {50, 1000}}, {"b", {30, 1000}}}),
              ElementsAre(Pair("a", 150), Pair("b", 20)));
}

TEST(EnergyBetweenTest, DomainsThatCameOrWentAreLeftOut) {
  EXPECT_THAT(EnergyBetween({{"a", {1, 1000}}}, {{"b", {2, 1000}}}), IsEmpty());
}

}  // namespace
}  // namespace distbench::node
