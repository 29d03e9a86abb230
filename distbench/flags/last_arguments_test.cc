// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/flags/last_arguments.h"

#include <string>
#include <vector>

#include "distbench/flags/flags.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::flags {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class LastArgumentsTest : public testing::Test {
 protected:
  LastArgumentsTest() {
    AddArguments(program_.app(), "FILE", files_, "FILE", "Files to copy");
    Require(program_.app(), "FILE");
    AddArgument(program_.app(), "FOLDER", folder_, "DIR", "Where to");
    Require(program_.app(), "FOLDER");
    KeepLastArguments(program_.app());
  }

  Parsed ParseWords(const std::vector<std::string>& words) {
    return Parse(program_.app(), words);
  }

  Program program_{"Tests arguments", "test"};
  std::vector<std::string> files_;
  std::string folder_;
};

TEST_F(LastArgumentsTest, ManyWordsLeaveTheLast) {
  ASSERT_EQ(ParseWords({"a", "b", "c", "to"}).text, "");
  EXPECT_THAT(files_, ElementsAre("a", "b", "c"));
  EXPECT_EQ(folder_, "to");
}

TEST_F(LastArgumentsTest, EachNeedsAWord) {
  ASSERT_EQ(ParseWords({"a", "to"}).text, "");
  EXPECT_THAT(files_, ElementsAre("a"));
  EXPECT_EQ(folder_, "to");
  EXPECT_THAT(ParseWords({"a"}).text, HasSubstr("FOLDER"));
}

TEST_F(LastArgumentsTest, FlagsComeFirst) {
  EXPECT_EQ(ParseWords({"--help"}).outcome, Parsed::Outcome::kHelp);
  for (const std::string flag : {"--help", "-h"}) {
    EXPECT_THAT(ParseWords({"a", "to", flag}).text,
                AllOf(HasSubstr(flag), HasSubstr("before the arguments")));
  }
}

}  // namespace
}  // namespace distbench::flags
