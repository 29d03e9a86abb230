// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/antagonists/burn_cpu.h"

#include <set>

#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

constexpr Arithmetic kAll[] = {Arithmetic::kInteger, Arithmetic::kFloatingPoint,
                               Arithmetic::kVector};

TEST(BurnCpuTest, EachStepCountsAndChangesTheResult) {
  for (const Arithmetic arithmetic : kAll) {
    std::set<uint64_t> checksums;
    for (int64_t operations = 1; operations <= 40; ++operations) {
      const activity::Work work = activity::DoIteration(
          *MakeBurnCpu(arithmetic, operations, /*seed=*/1), 0);
      EXPECT_EQ(work.operations, operations);
      EXPECT_TRUE(checksums.insert(work.checksum).second);
    }
  }
}

// If values converged, iterations could not be told apart, and the CPU might
// have less to do.
TEST(BurnCpuTest, ValuesDoNotConverge) {
  for (const Arithmetic arithmetic : kAll) {
    const auto few = MakeBurnCpu(arithmetic, 100'000, /*seed=*/1);
    const auto more = MakeBurnCpu(arithmetic, 100'008, /*seed=*/1);
    const auto other = MakeBurnCpu(arithmetic, 100'000, /*seed=*/2);
    EXPECT_NE(activity::DoIteration(*few, 0).checksum,
              activity::DoIteration(*more, 0).checksum);
    EXPECT_NE(activity::DoIteration(*few, 0).checksum,
              activity::DoIteration(*other, 0).checksum);
  }
}

}  // namespace
}  // namespace distbench::protection
