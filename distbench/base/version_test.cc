// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/version.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

TEST(VersionTest, IsWhatTheFileSays) {
  const absl::StatusOr<std::string> file = ReadFile("VERSION");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*file, absl::StrCat(ProgramVersion(), "\n"));
}

// Packages, the chart and the wheel can spell it only in this form.
TEST(VersionTest, IsThreeNumbers) {
  EXPECT_THAT(std::string(ProgramVersion()),
              testing::MatchesRegex("[0-9]+[.][0-9]+[.][0-9]+"));
}

}  // namespace
}  // namespace distbench::base
