// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/file_lock.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/test_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::results {
namespace {

using ::testing::HasSubstr;

class FileLockTest : public testing::Test {
 protected:
  const base::TestFolder folder_;
  const std::string path_ = folder_.PathOf("a.pb");
};

TEST_F(FileLockTest, OneAtATime) {
  {
    const auto lock = FileLock::Take(path_);
    ASSERT_TRUE(lock.ok()) << lock.status();
    const auto second = FileLock::Take(path_);
    EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(second.status().message()),
                HasSubstr(absl::StrCat("another distbench works on ", path_)));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  EXPECT_TRUE(FileLock::Take(path_).ok());
}

TEST_F(FileLockTest, LinksHaveTheLockOfTheirFile) {
  std::ofstream(path_) << "result";
  const std::string link = folder_.PathOf("link");
  std::filesystem::create_symlink(path_, link);
  const auto lock = FileLock::Take(link);
  ASSERT_TRUE(lock.ok()) << lock.status();
  EXPECT_FALSE(FileLock::Take(path_).ok());
}

TEST_F(FileLockTest, WhatAKilledProcessLeftLocksNothing) {
  std::ofstream(absl::StrCat(path_, ".lock")) << "";
  EXPECT_TRUE(FileLock::Take(path_).ok());
}

TEST_F(FileLockTest, DevicesHaveNoLock) {
  const auto lock = FileLock::Take("/dev/null");
  EXPECT_TRUE(lock.ok());
  EXPECT_TRUE(FileLock::Take("/dev/null").ok());
  EXPECT_FALSE(std::filesystem::exists("/dev/null.lock"));
}

TEST_F(FileLockTest, AMissingFolderIsNamed) {
  const std::string path = folder_.PathOf("no/a.pb");
  EXPECT_THAT(std::string(FileLock::Take(path).status().message()),
              HasSubstr(absl::StrCat("cannot write ", path, ": its lock ")));
}

}  // namespace
}  // namespace distbench::results
