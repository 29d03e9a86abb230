#include "distbench/launching/private_folder.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>

#include "distbench/base/files.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

mode_t ModeOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST(PrivateFolderTest, IsTheOwnersAloneAndGoesWithItsContents) {
  std::string path;
  const mode_t old_mask = umask(0);
  {
    auto made = PrivateFolder::Make();
    ASSERT_TRUE(made.ok()) << made.status();
    const PrivateFolder folder = *std::move(made);
    path = folder.path();
    EXPECT_EQ(ModeOf(path), 0700);
    ASSERT_TRUE(folder.Write("key", "secret").ok());
    EXPECT_EQ(ModeOf(path + "/key"), 0600);
    EXPECT_EQ(ReadFile(path + "/key").value(), "secret");
    const auto inner = folder.MakeFolder("inner");
    ASSERT_TRUE(inner.ok());
    EXPECT_EQ(ModeOf(*inner), 0700);
    EXPECT_FALSE(folder.Write("key", "twice").ok());
    EXPECT_FALSE(folder.MakeFolder("inner").ok());
  }
  umask(old_mask);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace distbench
