#include "distbench/payload/payload_slab.h"

#include "gtest/gtest.h"

namespace distbench {
namespace {

TEST(PayloadSlabTest, HoldsNothingButPadding) {
  EXPECT_EQ(PayloadSlab().size(), kPayloadSlabBytes);
  EXPECT_EQ(PayloadSlab().find_first_not_of('D'), absl::string_view::npos);
}

TEST(PayloadSlabTest, IsOneBlockPerProcess) {
  EXPECT_EQ(PayloadSlab().data(), PayloadSlab().data());
}

}  // namespace
}  // namespace distbench
