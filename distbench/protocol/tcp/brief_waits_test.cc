#include "distbench/protocol/tcp/brief_waits.h"

#include "gtest/gtest.h"

namespace distbench {
namespace {

TEST(BriefWaitsTest, AsksForPollingWhileWaitsAreBrief) {
  BriefWaits waits;
  EXPECT_EQ(waits.spin_ns(), 0);
  waits.OnSlept(BriefWaits::kBriefNs - 1);
  EXPECT_EQ(waits.spin_ns(), BriefWaits::kSpinNs);
  waits.OnSlept(BriefWaits::kBriefNs);
  EXPECT_EQ(waits.spin_ns(), 0);
}

}  // namespace
}  // namespace distbench
