#include "distbench/products/search/sequencer_runner.h"

#include "gtest/gtest.h"

namespace distbench::search {
namespace {

void AddNode(const std::string& hostname, int cpu_count,
             GetStatusResponse& status) {
  NodeRegistration& node = *status.add_nodes()->mutable_registration();
  node.set_hostname(hostname);
  node.set_cpu_count(cpu_count);
}

TEST(InstanceCountForTest, IsOneForEachHundredCpus) {
  GetStatusResponse status;
  EXPECT_FALSE(InstanceCountFor(status).ok());
  AddNode("a", 2, status);
  EXPECT_EQ(*InstanceCountFor(status), 1);
  AddNode("b", 100, status);
  EXPECT_EQ(*InstanceCountFor(status), 2);
}

TEST(InstanceCountForTest, CountsAHostOnce) {
  GetStatusResponse status;
  for (int node = 0; node < 4; ++node) AddNode("a", 380, status);
  EXPECT_EQ(*InstanceCountFor(status), 4);
}

}  // namespace
}  // namespace distbench::search
