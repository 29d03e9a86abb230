#include "distbench/results/output_file.h"

#include <stdio.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/testing/without_privileges.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A directory of its own for each test.
class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest()
      : directory_(
            fs::path(testing::TempDir()) /
            testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~OutputFileTest() override { fs::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ / name; }

  int FileCount() const {
    return std::distance(fs::directory_iterator(directory_),
                         fs::directory_iterator());
  }

  static std::string Content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static void WriteOld(const std::string& path) {
    std::ofstream(path) << "old";
  }

  static std::unique_ptr<OutputFile> Open(const std::string& path) {
    auto file = OutputFile::Open(path);
    EXPECT_TRUE(file.ok()) << file.status();
    return *std::move(file);
  }

  static void Print(absl::string_view text, OutputFile& file) {
    EXPECT_EQ(write(file.fd(), text.data(), text.size()), text.size());
  }

  const fs::path directory_;
};

TEST_F(OutputFileTest, AppearsAtCommit) {
  const std::string path = Path("result");
  auto file = Open(path);
  Print("new", *file);
  EXPECT_FALSE(fs::exists(path));
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(Content(path), "new");
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(OutputFileTest, ReplacesAtCommitAndKeepsTheMode) {
  const std::string path = Path("result");
  WriteOld(path);
  fs::permissions(path, fs::perms(0640));
  auto file = Open(path);
  Print("new", *file);
  EXPECT_EQ(Content(path), "old");
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(Content(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
}

TEST_F(OutputFileTest, LeavesNothingBehindWithoutCommit) {
  const std::string path = Path("result");
  WriteOld(path);
  Print("half", *Open(path));
  EXPECT_EQ(Content(path), "old");
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(OutputFileTest, FollowsSymbolicLinks) {
  WriteOld(Path("target"));
  fs::create_symlink("target", Path("link"));
  auto file = Open(Path("link"));
  Print("new", *file);
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Content(Path("target")), "new");
}

TEST_F(OutputFileTest, MissingDirectoryIsNamed) {
  const auto file = OutputFile::Open(Path("missing/result"));
  EXPECT_EQ(file.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(file.status().message()),
              HasSubstr("missing/result: No such file or directory"));
}

TEST_F(OutputFileTest, DirectoryIsNoFile) {
  const auto file = OutputFile::Open(directory_);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(std::string(file.status().message()),
              HasSubstr("Is a directory"));
}

TEST_F(OutputFileTest, ReadOnlyFileIsNotReplaced) {
  const std::string path = Path("result");
  WriteOld(path);
  fs::permissions(path, fs::perms(0444));
  WithoutPrivileges([&path] {
    EXPECT_EQ(OutputFile::Open(path).status().code(),
              absl::StatusCode::kPermissionDenied);
  });
}

TEST_F(OutputFileTest, DevicesAreWrittenToAsTheyStand) {
  auto file = Open("/dev/null");
  Print("new", *file);
  EXPECT_TRUE(file->Commit().ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

// What was printed before stays, and what is printed later comes after.
TEST_F(OutputFileTest, StandardOutputGoesOnWhereItIs) {
  const std::string path = Path("redirected");
  const int saved = dup(STDOUT_FILENO);
  ASSERT_NE(freopen(path.c_str(), "w", stdout), nullptr);
  EXPECT_EQ(write(STDOUT_FILENO, "before ", 7), 7);
  auto file = OutputFile::Open("/dev/stdout");
  if (file.ok()) {
    EXPECT_EQ(write((*file)->fd(), "result ", 7), 7);
    EXPECT_TRUE((*file)->Commit().ok());
  }
  EXPECT_EQ(write(STDOUT_FILENO, "after", 5), 5);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(Content(path), "before result after");
}

}  // namespace
}  // namespace distbench
