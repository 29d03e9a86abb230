// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/flags/flags.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::flags {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DurationTest, PlainNumbersAreSeconds) {
  EXPECT_EQ(*ParseDurationOrSeconds("90"), absl::Seconds(90));
  EXPECT_EQ(*ParseDurationOrSeconds("0.5"), absl::Milliseconds(500));
  EXPECT_EQ(*ParseDurationOrSeconds("0"), absl::ZeroDuration());
}

TEST(DurationTest, UnitsAreTakenAsTheyAre) {
  EXPECT_EQ(*ParseDurationOrSeconds("1m30s"), absl::Seconds(90));
  EXPECT_EQ(*ParseDurationOrSeconds("200ms"), absl::Milliseconds(200));
  EXPECT_EQ(*ParseDurationOrSeconds("5000us"), absl::Milliseconds(5));
}

TEST(DurationTest, OtherTextIsRefused) {
  for (const std::string text :
       {"", ".", "-1", "+1", "1e3", "1.2.3", "soon", "10 s", "1s30", "inf"}) {
    const auto duration = ParseDurationOrSeconds(text);
    ASSERT_FALSE(duration.ok()) << text;
    EXPECT_THAT(std::string(duration.status().message()),
                AllOf(HasSubstr("\"" + text), HasSubstr("such as 500ms")));
  }
  EXPECT_THAT(
      std::string(ParseDurationOrSeconds("99999999999").status().message()),
      HasSubstr("too long"));
}

// The error of a flag whose number is from 1e-9 to 1; empty if it takes this.
std::string ErrorOfShare(const std::string& text) {
  Program program("Tests flags", "test");
  double share = 1;
  AddNumberFlag(program.app(), "--share", share, 1e-9, 1, "SHARE", "A share");
  std::optional<double> other;
  AddNumberFlag(program.app(), "--other", other, 1e-9, 1, "SHARE", "A share");
  const std::string error = Parse(program.app(), {"--share=" + text}).text;
  EXPECT_EQ(Parse(program.app(), {"--other=" + text}).text.empty(),
            error.empty())
      << text;
  return error;
}

TEST(NumberFlagTest, TakesNumbersInRange) {
  for (const std::string text : {"1e-9", "0.25", "1", "1.0", "1e0"}) {
    EXPECT_EQ(ErrorOfShare(text), "") << text;
  }
}

TEST(NumberFlagTest, RefusesWhatIsNoNumberInRange) {
  for (const std::string text : {"nan", "NaN", "-nan", "inf", "-inf", "0", "-1",
                                 "1.5", "1e-10", "1e999", "half"}) {
    EXPECT_THAT(ErrorOfShare(text),
                AllOf(HasSubstr("--share"), HasSubstr(text)))
        << text;
  }
}

TEST(NumberFlagTest, SaysTheLimitsAsTheyAre) {
  EXPECT_THAT(ErrorOfShare("0"), HasSubstr("Value 0 not in range 1e-09 to 1"));
}

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
