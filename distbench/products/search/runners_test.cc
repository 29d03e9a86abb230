// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/runners.h"

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::ElementsAre;

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
  // Another host with the same name.
  for (int node = 0; node < 4; ++node) {
    status.mutable_nodes(node)->mutable_registration()->set_boot_id(
        node < 3 ? "1" : "2");
  }
  EXPECT_EQ(*InstanceCountFor(status), 8);
}

bool GoOn(const RunTestsEvent&) { return true; }

// Hosts that only note the seeds of tests.
cli::SimulatedHosts NotingHosts(std::vector<uint64_t>& seeds) {
  cli::SimulatedHosts hosts;
  hosts.run = [&seeds](const DistributedSystemDescription& test,
                       int64_t start_unix_ns,
                       const std::atomic<bool>& /*is_cancelled*/) {
    EXPECT_NEAR(static_cast<double>(start_unix_ns),
                static_cast<double>(absl::ToUnixNanos(absl::Now())),
                static_cast<double>(absl::ToInt64Nanoseconds(absl::Hours(1))));
    seeds.push_back(test.random_seed());
    return TestResult();
  };
  return hosts;
}

// Otherwise the interval of a search's answer would rest on copies of one run.
TEST(SimulationRunnerTest, EachRunHasASeedOfItsOwn) {
  const std::atomic<bool> is_cancelled = false;
  std::vector<uint64_t> seeds;
  DistributedSystemDescription test;
  const TestRunner run = RunOnSimulation(NotingHosts(seeds), is_cancelled);
  EXPECT_TRUE(run(test, GoOn).ok());
  EXPECT_TRUE(run(test, GoOn).ok());
  EXPECT_TRUE(
      RunOnSimulation(NotingHosts(seeds), is_cancelled, 5)(test, GoOn).ok());
  test.set_random_seed(70);
  EXPECT_TRUE(
      RunOnSimulation(NotingHosts(seeds), is_cancelled, 5)(test, GoOn).ok());
  EXPECT_THAT(seeds, ElementsAre(1, 2, 6, 75));
}

TEST(SimulationRunnerTest, ACancelledProbeIsAnError) {
  const std::atomic<bool> is_cancelled = true;
  std::vector<uint64_t> seeds;
  const auto result =
      RunOnSimulation(NotingHosts(seeds), is_cancelled)({}, GoOn);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace distbench::search
