// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/hosting/engine_process.h"

#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "distbench/base/testing/test_folder.h"
#include "gtest/gtest.h"

namespace distbench::hosting {
namespace {

// A folder with the files of a service's group, and of an instance's below it.
class MemoryGroupTest : public testing::Test {
 protected:
  MemoryGroupTest() {
    std::filesystem::create_directories(instance_);
    Write(root_ / "service" / "cgroup.procs", "");
    Write(instance_ / "cgroup.procs", "");
  }

  static void Write(const std::filesystem::path& file,
                    const std::string& text) {
    std::ofstream(file) << text;
  }

  MemoryGroup Open() const {
    const base::FileDescriptor folder(
        open(instance_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return MemoryGroup::Open(folder.get());
  }

  const base::TestFolder folder_;
  const std::filesystem::path root_ = folder_.path();
  const std::filesystem::path instance_ = root_ / "service" / "instance";
};

TEST_F(MemoryGroupTest, CountsKillsAnewEachTime) {
  Write(instance_ / "memory.events", "low 3\noom 1\noom_kill 0\n");
  const MemoryGroup group = Open();
  EXPECT_EQ(group.OomKills(), 0);
  Write(instance_ / "memory.events", "low 3\noom 2\noom_kill 2\n");
  EXPECT_EQ(group.OomKills(), 2);
}

TEST_F(MemoryGroupTest, NamesTheTightestLimit) {
  Write(instance_ / "memory.max", "max\n");
  Write(root_ / "service" / "memory.max", "536870912\n");
  EXPECT_EQ(Open().DescribeLimit(), "whose memory.max is 512MiB");
  Write(instance_ / "memory.max", "1048576\n");
  EXPECT_EQ(Open().DescribeLimit(), "whose memory.max is 1MiB");
  Write(instance_ / "memory.max", "0\n");
  EXPECT_EQ(Open().DescribeLimit(), "whose memory.max is 0B");
}

TEST_F(MemoryGroupTest, LooksAboveAGroupWithoutTheController) {
  Write(root_ / "service" / "memory.max", "4096\n");
  EXPECT_EQ(Open().DescribeLimit(), "whose memory.max is 4KiB");
  EXPECT_EQ(Open().OomKills(), 0);
}

TEST_F(MemoryGroupTest, EndsWithTheHierarchy) {
  Write(instance_ / "memory.max", "max\n");
  Write(root_ / "memory.max", "4096\n");  // not a group
  EXPECT_EQ(Open().DescribeLimit(), "which has no memory.max");
}

TEST_F(MemoryGroupTest, NoGroupHasNoKills) {
  EXPECT_EQ(MemoryGroup::Open(-1).OomKills(), 0);
}

}  // namespace
}  // namespace distbench::hosting
