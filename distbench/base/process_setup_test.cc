// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/process_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "gtest/gtest.h"

namespace distbench::base {
namespace {

namespace fs = std::filesystem;

// InitGoogleLogging may be called once per process, so each case has one.
class ProcessSetUpDeathTest : public testing::Test {
 protected:
  ProcessSetUpDeathTest() : root_(fs::path(testing::TempDir()) / "user") {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    fs::create_directories(root_ / "program.runfiles" / "workspace");
    setenv("BUILD_WORKING_DIRECTORY", root_.c_str(), 1);
  }

  const fs::path root_;
};

// Exits, with 0 if the working directory is then `expected`.
[[noreturn]] void SetUpIn(const fs::path& start, const fs::path& expected) {
  fs::current_path(start);
  SetUpProcess("test");
  std::exit(fs::equivalent(fs::current_path(), expected) ? 0 : 1);
}

TEST_F(ProcessSetUpDeathTest, GoesToTheUsersFolderUnderBazelRun) {
  EXPECT_EXIT(SetUpIn(root_ / "program.runfiles" / "workspace", root_),
              testing::ExitedWithCode(0), "");
}

TEST_F(ProcessSetUpDeathTest, StaysWhereItIsOtherwise) {
  const fs::path elsewhere = root_ / "elsewhere";
  fs::create_directories(elsewhere);
  EXPECT_EXIT(SetUpIn(elsewhere, elsewhere), testing::ExitedWithCode(0), "");
}

TEST_F(ProcessSetUpDeathTest, UsersChoiceOfGrpcLogsIsKept) {
  setenv("GRPC_VERBOSITY", "DEBUG", 1);
  EXPECT_EXIT(
      {
        SetUpProcess("test");
        std::exit(std::string(std::getenv("GRPC_VERBOSITY")) == "DEBUG" ? 0
                                                                        : 1);
      },
      testing::ExitedWithCode(0), "");
}

// Exits, with 0 if the limit of open files is the hard limit.
[[noreturn]] void SetUpWithFewFiles() {
  rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  const rlim_t hard_limit = files.rlim_max;
  files.rlim_cur = 20;
  setrlimit(RLIMIT_NOFILE, &files);
  SetUpProcess("test");
  getrlimit(RLIMIT_NOFILE, &files);
  std::exit(files.rlim_cur == hard_limit ? 0 : 1);
}

TEST_F(ProcessSetUpDeathTest, AllowsAsManyOpenFilesAsPossible) {
  EXPECT_EXIT(SetUpWithFewFiles(), testing::ExitedWithCode(0), "");
}

// Exits, with 0 if what is opened next is not taken for stdout.
[[noreturn]] void SetUpWithoutStdout() {
  close(STDOUT_FILENO);
  SetUpProcess("test");
  const int next = open("/dev/null", O_WRONLY);
  const bool fails = write(STDOUT_FILENO, "text", 4) == -1 && errno == EBADF;
  std::exit(next > STDERR_FILENO && fails ? 0 : 1);
}

TEST_F(ProcessSetUpDeathTest, AClosedStdoutIsNoOtherFile) {
  EXPECT_EXIT(SetUpWithoutStdout(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace distbench::base
