// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/payload/payload_slab.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "gtest/gtest.h"

namespace distbench::payload {
namespace {

// Node 0 alone, as a mask of nodes. A mask must be as long as the kernel's.
constexpr unsigned long kNode0[16] = {1};
constexpr unsigned long kMaxNodes = 8 * sizeof(kNode0);

// The slab of a thread that is bound so; null if the kernel does not let us.
const char* SlabUnder(int mode) {
  const char* slab = nullptr;
  std::thread([&] {
    if (syscall(SYS_set_mempolicy, mode, kNode0, kMaxNodes) == 0) {
      slab = PayloadSlab().data();
    }
  }).join();
  return slab;
}

// The policy of the memory at an address; -1: not known.
int PolicyAt(const char* address) {
  int mode = -1;
  unsigned long nodes[16] = {};
  syscall(SYS_get_mempolicy, &mode, nodes, kMaxNodes, address, MPOL_F_ADDR);
  return mode;
}

TEST(PayloadSlabTest, HoldsNothingButPadding) {
  EXPECT_EQ(PayloadSlab().size(), kPayloadSlabBytes);
  EXPECT_EQ(PayloadSlab().find_first_not_of('D'), absl::string_view::npos);
}

TEST(PayloadSlabTest, IsOneBlockPerProcess) {
  EXPECT_EQ(PayloadSlab().data(), PayloadSlab().data());
}

// Whoever fills it in first: what is bound otherwise gets another one.
TEST(PayloadSlabTest, LiesWhereThePolicyOfItsThreadSays) {
  const char* const unbound = PayloadSlab().data();
  const char* const bound = SlabUnder(MPOL_BIND);
  if (bound == nullptr) GTEST_SKIP() << "no memory can be bound here";
  EXPECT_NE(bound, unbound);
  EXPECT_EQ(PolicyAt(bound), MPOL_BIND);
  EXPECT_EQ(PolicyAt(unbound), MPOL_DEFAULT);
  const char* const interleaved = SlabUnder(MPOL_INTERLEAVE);
  EXPECT_NE(interleaved, bound);
  EXPECT_EQ(PolicyAt(interleaved), MPOL_INTERLEAVE);
  EXPECT_EQ(SlabUnder(MPOL_BIND), bound);
}

}  // namespace
}  // namespace distbench::payload
