// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/named_files.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/testing/test_folder.h"
#include "distbench/flags/flags.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NamedFilesTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const {
    return folder_.PathOf(name);
  }

  std::string MakeFile(const std::string& name) const {
    std::ofstream(Path(name)) << name;
    return Path(name);
  }

  // The error of a command that has these arguments; empty if there is none.
  static std::string ErrorOf(const std::vector<std::string>& arguments) {
    flags::Program program("", "distbench");
    std::string tests, outfile, junit, resume;
    std::vector<std::string> results;
    CLI::App& app = program.app();
    flags::AddTextFlag(app, "--tests", tests, "FILE", "");
    flags::AddTextFlag(app, "--resume", resume, "FILE", "");
    flags::AddOutputFlag(app, "-o,--outfile", outfile, "");
    flags::AddOutputFlag(app, "--junit", junit, "");
    flags::AddArguments(app, "RESULT", results, "RESULT", "");
    const flags::Parsed parsed = flags::Parse(app, arguments);
    EXPECT_EQ(parsed.outcome, flags::Parsed::Outcome::kOk) << parsed.text;
    return std::string(CheckNamedFiles(app).message());
  }

 private:
  const base::TestFolder folder_;
};

TEST_F(NamedFilesTest, AnOutputIsNoInput) {
  const std::string file = MakeFile("a");
  EXPECT_EQ(ErrorOf({"--tests", file, "-o", file}),
            absl::StrCat("--outfile ", file, " would overwrite --tests ", file,
                         ", which is the same file; name another file"));
  EXPECT_THAT(ErrorOf({file, "--junit", file}),
              HasSubstr(absl::StrCat("would overwrite RESULT ", file)));
  EXPECT_THAT(ErrorOf({"--resume", file, "--junit", file}),
              HasSubstr("would overwrite --resume"));
}

TEST_F(NamedFilesTest, OutputsAreDifferentFiles) {
  const std::string message = "--junit .* would overwrite --outfile ";
  EXPECT_THAT(ErrorOf({"-o", MakeFile("a"), "--junit", Path("a")}),
              testing::ContainsRegex(message));
  // Also if they are made only then, under several names.
  EXPECT_THAT(ErrorOf({"-o", Path("new"), "--junit", Path("./new")}),
              testing::ContainsRegex(message));
  EXPECT_THAT(ErrorOf({"-o", "new", "--junit", "./new"}),
              testing::ContainsRegex(message));
  EXPECT_THAT(ErrorOf({"-o", Path("new"), "--junit", Path("other")}),
              IsEmpty());
}

TEST_F(NamedFilesTest, LinksDoNotHideAFile) {
  const std::string file = MakeFile("a");
  fs::create_symlink("a", Path("symbolic"));
  fs::create_hard_link(file, Path("hard"));
  fs::create_directory_symlink(".", Path("folder"));
  for (const char* other : {"symbolic", "hard", "folder/a", "./a"}) {
    EXPECT_THAT(ErrorOf({file, "-o", Path(other)}),
                HasSubstr("would overwrite RESULT"))
        << other;
  }
  EXPECT_THAT(ErrorOf({"-o", Path("folder/new"), "--junit", Path("new")}),
              HasSubstr("would overwrite --outfile"));
}

TEST_F(NamedFilesTest, OfAFolderOnlyResultsAreRead) {
  fs::create_directory(Path("folder"));
  const std::string result = MakeFile("folder/a.pb.gz");
  const std::string page = MakeFile("folder/page.html");
  EXPECT_THAT(ErrorOf({Path("folder"), "-o", result}),
              HasSubstr(absl::StrCat("would overwrite RESULT ", result)));
  EXPECT_THAT(ErrorOf({Path("folder"), "-o", page}), IsEmpty());
  EXPECT_THAT(ErrorOf({Path("folder"), "-o", Path("folder/new.pb")}),
              IsEmpty());
}

TEST_F(NamedFilesTest, WhatLosesNothingIsAllowed) {
  const std::string file = MakeFile("a");
  EXPECT_THAT(ErrorOf({file, file, "--tests", file}), IsEmpty());
  EXPECT_THAT(ErrorOf({"--resume", file}), IsEmpty());
  EXPECT_THAT(ErrorOf({"--tests", "-", "-o", file}), IsEmpty());
  EXPECT_THAT(ErrorOf({"-o", "/dev/null", "--junit", "/dev/null"}), IsEmpty());
  EXPECT_THAT(ErrorOf({"-o", "/dev/stdout", "--junit", "/dev/stdout"}),
              IsEmpty());
  EXPECT_THAT(ErrorOf({"-o", Path("none/a"), "--junit", Path("none/a")}),
              IsEmpty());  // which cannot be written
}

}  // namespace
}  // namespace distbench::cli
