#include "distbench/products/launching/ssh/private_folder.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace distbench::launching {
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
    std::ofstream(path + "/key") << "secret";
  }
  umask(old_mask);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace distbench::launching
