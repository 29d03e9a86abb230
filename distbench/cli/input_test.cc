// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/input.h"

#include <fstream>
#include <string>

#include "distbench/base/testing/test_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::cli {
namespace {

TEST(ResultFilesAtTest, NumbersInNamesAreInOrder) {
  const base::TestFolder folder;
  for (const char* name : {"x16-b.pb", "x4-b.pb", "x1-b.pb", "x04-b.pb",
                           "x4-a.pb.gz", "xa.pb", "notes.txt"}) {
    std::ofstream(folder.PathOf(name)) << name;
  }
  const auto files = ResultFilesAt(folder.path());
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(*files, testing::ElementsAre(
                          folder.PathOf("x1-b.pb"), folder.PathOf("x4-a.pb.gz"),
                          folder.PathOf("x04-b.pb"), folder.PathOf("x4-b.pb"),
                          folder.PathOf("x16-b.pb"), folder.PathOf("xa.pb")));
}

}  // namespace
}  // namespace distbench::cli
