#include "distbench/base/read_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "distbench/base/testing/without_privileges.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::HasSubstr;

std::string TempPath(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

TEST(ReadFile, ReturnsAllBytes) {
  const std::string bytes = std::string(200'000, 'x') + std::string("\0\n", 2);
  const std::string path = TempPath("bytes");
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(ReadFile(path).value(), bytes);
}

TEST(ReadFile, ReadsPipesToTheirEnd) {
  const std::string path = TempPath("pipe");
  unlink(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&path] { std::ofstream(path) << "tests"; });
  const auto contents = ReadFile(path);
  writer.join();
  EXPECT_EQ(contents.value(), "tests");
}

TEST(ReadFile, SaysWhatIsMissing) {
  const auto status = ReadFile(TempPath("missing")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("/missing: No such file or directory; check the path"));
  EXPECT_THAT(std::string(ReadFile("").status().message()),
              HasSubstr("no file is named"));
}

TEST(ReadFile, RefusesDirectories) {
  EXPECT_THAT(std::string(ReadFile(::testing::TempDir()).status().message()),
              HasSubstr("is a directory"));
}

TEST(ReadFile, SaysWhenPermissionIsMissing) {
  const std::string path = TempPath("secret");
  std::ofstream(path) << "x";
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  WithoutPrivileges([&path] {
    const auto status = ReadFile(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("/secret: Permission"));
  });
}

TEST(ReadFile, MayBeToldToReadLess) {
  const std::string path = TempPath("two_mib");
  std::ofstream(path) << std::string(2 << 20, 'x');
  EXPECT_TRUE(ReadFile(path, 2 << 20).ok());
  EXPECT_THAT(std::string(ReadFile(path, 1 << 20).status().message()),
              HasSubstr("larger than 1 MiB"));
}

TEST(ReadFile, StopsAtFilesWithoutEnd) {
  EXPECT_THAT(std::string(ReadFile("/dev/zero").status().message()),
              HasSubstr("larger than"));
}

}  // namespace
}  // namespace distbench
