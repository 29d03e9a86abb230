#include "distbench/products/protection/control_groups/leases.h"

#include <thread>

#include "distbench/base/testing/status_testing.h"
#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::HasSubstr;

class LeasesTest : public testing::Test {
 protected:
  LeasesTest() {
    host_.Write("/state/x", "");
    auto journal = Journal::Create(
        host_.state_folder(),
        {.boot_id = "b", .pid = 77, .start = absl::FromUnixSeconds(0)});
    EXPECT_TRUE(journal.ok()) << journal.status();
    journal_ = *std::move(journal);
    EXPECT_TRUE(journal_->Append(GroupLease("/a")).ok());
    EXPECT_TRUE(journal_->Append(DeviceLease("/", "8:0")).ok());
  }

  absl::Status Check(const JournalRecord& lease,
                     absl::Duration patience = absl::ZeroDuration()) {
    return CheckLeases(host_.state_folder(), {lease}, patience);
  }

  const FakeHierarchy host_;
  std::unique_ptr<Journal> journal_;
};

TEST_F(LeasesTest, NameTheHolder) {
  const absl::Status group = Check(GroupLease("/a"));
  EXPECT_EQ(group.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(base::Message(group),
              HasSubstr("the control group /a is in use by process 77 (since "
                        "1970-01-01 00:00:00 UTC)"));
  EXPECT_THAT(base::Message(Check(DeviceLease("/", "8:0"))),
              HasSubstr("io.cost of 8:0 is in use by process 77"));
}

TEST_F(LeasesTest, AreOfOneThingOnly) {
  EXPECT_TRUE(Check(GroupLease("/a/b")).ok());
  EXPECT_TRUE(Check(DeviceLease("/", "8:16")).ok());
}

TEST_F(LeasesTest, EndWithTheHolder) {
  journal_.reset();
  EXPECT_TRUE(Check(GroupLease("/a")).ok());
}

TEST_F(LeasesTest, AreWaitedFor) {
  std::thread ending([this] { journal_.reset(); });
  EXPECT_TRUE(Check(GroupLease("/a"), absl::Seconds(20)).ok());
  ending.join();
}

}  // namespace
}  // namespace distbench::protection
