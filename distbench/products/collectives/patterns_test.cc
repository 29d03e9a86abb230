// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The patterns of test_builder that are collectives, checked with their
// product.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/building/test_factory.h"
#include "test_builder/building/test_list.h"

namespace distbench::collectives {
namespace {

using ::testing::IsEmpty;

TEST(CollectivePatterns, AllPass) {
  test_builder::Notes notes;
  const auto tests = test_builder::BuildTests(
      {.configs = {"collective",
                   "collective:algorithm=ring,tree,halving_doubling:chunks=3",
                   "collective:operation=all_gather,reduce_scatter:groups=2:"
                   "algorithm=ring,halving_doubling",
                   "collective:operation=all_to_all:algorithm=pairwise,direct:"
                   "skew=0,1.2",
                   "collective:operation=broadcast:algorithm=ring,tree",
                   "collective:operation=pipeline:compute_us=0,100:"
                   "compute_spread_percent=20",
                   "training:compute_us=50"},
       .duration = "30"},
      notes);
  ASSERT_TRUE(tests.ok()) << tests.status();
  const absl::Status status = test_builder::CheckTests(*tests, notes);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(notes.all(), IsEmpty());
}

}  // namespace
}  // namespace distbench::collectives
