// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/testing/random_drivers.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::Ge;
using ::testing::IsSupersetOf;

constexpr uint64_t kSeeds = 3000;

DistributedSystemDescription DrawnTest(uint64_t seed) {
  auto sequence = ParseTestSequence(
      "tests { services { name: 'a' count: 1 } services { name: 'b' count: 1 } "
      "action_lists { name: 'a' action_names: 'run' } "
      "actions { name: 'run' rpc_name: 'rpc' } action_lists { name: 'rpc' } "
      "rpc_descriptions { name: 'rpc' client: 'a' server: 'b' } }",
      "test");
  EXPECT_TRUE(sequence.ok()) << sequence.status();
  fuzzing::RandomSource random(seed);
  DistributedSystemDescription test = sequence->tests(0);
  DrawDrivers("loopback", random, test);
  return test;
}

absl::StatusOr<TestSequence> Check(const DistributedSystemDescription& test) {
  TestSequence sequence;
  *sequence.add_tests() = test;
  return CheckTestSequence(std::move(sequence));
}

// For example "double_barrel loopback".
std::string Stack(const DriverOptions& options) {
  if (options.decorated.empty()) return options.driver;
  return absl::StrCat(options.driver, " ", Stack(options.decorated.front()));
}

// The number of options through which the default protocol leads to a driver.
int DefaultDepth(const DistributedSystemDescription& test) {
  const TestNames names(test);
  std::string name = test.default_protocol();
  int depth = 0;
  while (FindDriver(name) == nullptr && depth < 10) {
    const int options = names.driver_options.Find(name);
    if (options == kNone) return depth;
    name = test.protocol_driver_options(options).protocol_name();
    ++depth;
  }
  return depth;
}

TEST(RandomDrivers, MostAreValidAndLeadToTheDriver) {
  int valid = 0;
  std::set<std::string> stacks;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto checked = Check(DrawnTest(seed));
    if (!checked.ok()) continue;
    ++valid;
    for (const ServicePlan& service : Compile(checked->tests(0)).services) {
      stacks.insert(Stack(service.driver));
    }
  }
  EXPECT_THAT(valid, Ge(static_cast<int>(kSeeds) * 95 / 100));
  EXPECT_THAT(
      stacks,
      IsSupersetOf(
          {"loopback", "double_barrel loopback",
           "composable_rpc_counter loopback",
           "composable_rpc_counter double_barrel loopback",
           "double_barrel composable_rpc_counter double_barrel loopback"}));
}

TEST(RandomDrivers, DrawsDefaultsOfAllKinds) {
  std::set<std::string> defaults;
  std::set<int> depths;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const DistributedSystemDescription test = DrawnTest(seed);
    defaults.insert(test.default_protocol());
    depths.insert(DefaultDepth(test));
  }
  EXPECT_THAT(defaults, IsSupersetOf({"grpc", "loopback", "double_barrel",
                                      "composable_rpc_counter"}));
  EXPECT_THAT(depths, IsSupersetOf({0, 1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace distbench::config
