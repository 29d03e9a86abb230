#include "distbench/products/protection/control_groups/state_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include "distbench/base/testing/status_testing.h"
#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::HasSubstr;

class StateFolderTest : public testing::Test {
 protected:
  const FakeHierarchy host_;
  const std::string folder_ = host_.state_folder();
};

TEST_F(StateFolderTest, IsMadeForThisUserOnly) {
  ASSERT_TRUE(MakeStateFolder(folder_).ok());
  struct stat info;
  ASSERT_EQ(stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_TRUE(MakeStateFolder(folder_).ok());
}

TEST_F(StateFolderTest, IsRefusedIfOthersCanWriteToIt) {
  ASSERT_TRUE(MakeStateFolder(folder_).ok());
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_EQ(MakeStateFolder(folder_).code(),
            absl::StatusCode::kPermissionDenied);
}

TEST_F(StateFolderTest, IsRefusedIfItIsNoFolder) {
  ASSERT_EQ(symlink("/", folder_.c_str()), 0);
  EXPECT_THAT(base::Message(MakeStateFolder(folder_)),
              HasSubstr("not a folder that only this user can write to"));
}

TEST_F(StateFolderTest, IsLockedByOneAtATime) {
  ASSERT_TRUE(MakeStateFolder(folder_).ok());
  {
    const auto lock = LockStateFolder(folder_, absl::ZeroDuration());
    ASSERT_TRUE(lock.ok()) << lock.status();
    EXPECT_EQ(LockStateFolder(folder_, absl::ZeroDuration()).status().code(),
              absl::StatusCode::kUnavailable);
  }
  EXPECT_TRUE(LockStateFolder(folder_, absl::ZeroDuration()).ok());
}

}  // namespace
}  // namespace distbench::protection
