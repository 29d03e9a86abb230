// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/flags/help_text.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "distbench/flags/flags.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::flags {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class HelpTextTest : public testing::Test {
 protected:
  HelpTextTest() : program_("Bakes bread.\nSlowly.", "bakery") {
    AddSubcommand(program_.app(), "bake", "Bakes\nbread");
    HideSubcommand(AddSubcommand(program_.app(), "secret", "For us alone"));
  }

  CLI::App& app() { return program_.app(); }

  CLI::App& bake() { return *app().get_subcommand("bake"); }

  Program program_;
  std::string text_;
  std::vector<std::string> texts_;
};

TEST_F(HelpTextTest, IsOfTheWholeProgram) {
  SetFooter(app(), "Example:\n  bakery bake");
  EXPECT_EQ(HelpText(app()),
            "Bakes bread.\n"
            "Slowly.\n"
            "Usage: bakery [OPTIONS] [SUBCOMMAND]\n"
            "\n"
            "Options:\n"
            "  -h,--help                   Print this help message and exit\n"
            "\n"
            "Subcommands:\n"
            "  bake                        Bakes\n"
            "                              bread\n"
            "\n"
            "Example:\n"
            "  bakery bake\n");
}

TEST_F(HelpTextTest, DescribesFlagsAndArguments) {
  text_ = "round";
  AddTextFlag(bake(), "-f,--form", text_, "FORM", "Its form");
  ShowDefault(bake(), "--form");
  AddRepeatedFlag(bake(), "--very_special_ingredient", texts_, "NAME=AMOUNT",
                  "Two\nlines");
  Require(bake(), "--very_special_ingredient", true);
  bool is_set = false;
  AddSwitch(bake(), "--quiet", is_set, "");
  AddArgument(bake(), "OVEN", text_, "OVEN", "Where");
  Require(bake(), "OVEN", true);
  AddArguments(bake(), "LOAF", texts_, "LOAF", "Which");
  EXPECT_EQ(HelpText(bake()),
            "Bakes\n"
            "bread\n"
            "Usage: bakery bake [OPTIONS] OVEN [LOAF...]\n"
            "\n"
            "Positionals:\n"
            "  OVEN                        Where\n"
            "  LOAF                        Which\n"
            "\n"
            "Options:\n"
            "  -h,--help                   Print this help message and exit\n"
            "  -f,--form FORM=round        Its form\n"
            "  --very_special_ingredient NAME=AMOUNT REQUIRED\n"
            "                              Two\n"
            "                              lines\n"
            "  --quiet\n");
}

TEST_F(HelpTextTest, SaysThatACommandLineMayFollow) {
  bake().add_option(kTrailingCommandFlag, text_)->group("");
  EXPECT_THAT(HelpText(bake()),
              HasSubstr("Usage: bakery bake [OPTIONS] [-- COMMAND...]\n"));
}

TEST_F(HelpTextTest, NamesOfFlagsTakeAsManyColumnsAsAsked) {
  EXPECT_EQ(FlagsHelp(bake(), 14),
            "\nOptions:\n  -h,--help   Print this help message and exit\n");
  EXPECT_THAT(FlagsHelp(bake(), 11),
              EndsWith("  -h,--help\n           Print this help message and "
                       "exit\n"));
}

}  // namespace
}  // namespace distbench::flags
