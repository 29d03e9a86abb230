// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_TESTING_TEST_FOLDER_H_
#define DISTBENCH_BASE_TESTING_TEST_FOLDER_H_

#include <filesystem>
#include <string>

#include "gtest/gtest.h"

namespace distbench::base {

// An empty folder of the test that runs, below testing::TempDir(). It is gone,
// with all that is in it, at the end.
class TestFolder {
 public:
  TestFolder()
      : path_(std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }

  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Of a file in it, which need not be there.
  std::string PathOf(const std::string& name) const { return path_ / name; }

 private:
  const std::filesystem::path path_;
};

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_TESTING_TEST_FOLDER_H_
