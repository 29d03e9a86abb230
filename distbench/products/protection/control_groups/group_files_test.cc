// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/group_files.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#include "distbench/base/testing/status_testing.h"
#include "distbench/base/testing/without_privileges.h"
#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// On ordinary files, which differ from the kernel's in what they accept only.
class KernelGroupFilesTest : public testing::Test {
 protected:
  KernelGroupFilesTest() { host_.Write("/file", "a long text\n"); }

  const FakeHierarchy host_;
  const std::string file_ = host_.root() + "/file";
  KernelGroupFiles files_;
};

TEST_F(KernelGroupFilesTest, WritesALine) {
  ASSERT_TRUE(files_.Write(file_, "max").ok());
  EXPECT_EQ(files_.Read(file_).value(), "max\n");
}

TEST_F(KernelGroupFilesTest, WritesAnEmptyLine) {
  ASSERT_TRUE(files_.Write(file_, "").ok());
  EXPECT_EQ(files_.Read(file_).value(), "\n");
}

TEST_F(KernelGroupFilesTest, SaysWhatIsWrong) {
  const std::string missing = host_.root() + "/io.prio.class";
  for (const absl::Status& status :
       {files_.Write(missing, "idle"), files_.Read(missing).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(
        base::Message(status),
        AllOf(HasSubstr(missing), HasSubstr("this kernel does not have")));
  }
  EXPECT_FALSE(Exists(missing));
  ASSERT_EQ(chmod(file_.c_str(), 0444), 0);
  base::WithoutPrivileges([this] {
    EXPECT_THAT(base::Message(files_.Write(file_, "7")),
                AllOf(HasSubstr("cannot write \"7\" to " + file_),
                      HasSubstr("needs the rights of root")));
  });
}

TEST_F(KernelGroupFilesTest, MakesListsAndRemovesGroups) {
  const std::string group = host_.root() + "/group";
  ASSERT_TRUE(files_.MakeGroup(group).ok());
  EXPECT_EQ(files_.MakeGroup(group).code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(files_.MakeGroup(group + "/b").ok());
  ASSERT_TRUE(files_.MakeGroup(group + "/a").ok());
  host_.Write("/group/file", "");
  EXPECT_THAT(files_.Children(group).value(), ElementsAre("a", "b"));
  EXPECT_FALSE(files_.RemoveGroup(group).ok());
  EXPECT_TRUE(files_.RemoveGroup(group + "/a").ok());
  EXPECT_EQ(files_.RemoveGroup(group + "/a").code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(files_.Children(group + "/a").status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(KernelGroupFilesTest, SeesWhatSystemdHasMarked) {
  const char* const folder = host_.root().c_str();
  EXPECT_FALSE(files_.IsMarkedDelegated(folder));
  if (setxattr(folder, "user.delegate", "1", 1, 0) != 0) {
    GTEST_SKIP() << "the file system has no attributes of users";
  }
  EXPECT_TRUE(files_.IsMarkedDelegated(folder));
  ASSERT_EQ(setxattr(folder, "user.delegate", "0", 1, 0), 0);
  EXPECT_FALSE(files_.IsMarkedDelegated(folder));
}

}  // namespace
}  // namespace distbench::protection
