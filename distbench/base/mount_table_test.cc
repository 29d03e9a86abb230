#include "distbench/base/mount_table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

TEST(MountTableTest, HasTheFieldsOfEachMount) {
  const std::vector<Mount> mounts = ParseMountInfo(
      "22 1 8:1 / / rw,relatime shared:1 master:2 - ext4 /dev/sda1 rw\n"
      "30 22 0:26 /a\\040b /sys/fs/cgroup/x\\134y rw - cgroup none rw,cpu\n");
  ASSERT_EQ(mounts.size(), 2u);
  EXPECT_EQ(mounts[0].root, "/");
  EXPECT_EQ(mounts[0].point, "/");
  EXPECT_EQ(mounts[0].type, "ext4");
  EXPECT_EQ(mounts[0].source, "/dev/sda1");
  EXPECT_EQ(mounts[0].options, "rw");
  EXPECT_EQ(mounts[1].root, "/a b");
  EXPECT_EQ(mounts[1].point, "/sys/fs/cgroup/x\\y");
  EXPECT_EQ(mounts[1].options, "rw,cpu");
}

TEST(MountTableTest, LeavesOutWhatIsNone) {
  EXPECT_THAT(ParseMountInfo(""), testing::IsEmpty());
  EXPECT_THAT(ParseMountInfo("x\n22 1 8:1 / - ext4 /dev/sda1 rw\n"
                             "22 1 8:1 / /a rw - ext4\n"),
              testing::IsEmpty());
  EXPECT_EQ(ParseMountInfo("22 1 8:1 / /a rw - ext4 /dev/sda1").size(), 1u);
}

}  // namespace
}  // namespace distbench::base
