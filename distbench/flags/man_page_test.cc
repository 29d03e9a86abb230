// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/flags/man_page.h"

#include <CLI/CLI.hpp>
#include <string>

#include "distbench/flags/connection_defaults.h"
#include "distbench/flags/flags.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::flags {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ManPageTest : public testing::Test {
 protected:
  ManPageTest() : app_("Bakes bread. Slowly.", "bakery") {
    bake_ = app_.add_subcommand("bake", "Bakes bread");
    bake_->add_option("-f,--infile", text_, "The recipe:\n  .txt: text\n  it's")
        ->type_name("FILE")
        ->required();
    bake_->add_option("--form", text_ = "round", "Its form")
        ->capture_default_str();
    bake_->add_flag("--quiet", flag_, "No noise");
    bake_->add_option("LOAF", loaves_, "Which loaves");
    bake_->footer(
        "First line\nof a paragraph.\n\n"
        "Kinds:\n  rye\n\n"
        "Examples:\n  bakery bake \\\n      --form='a^b'\n  bakery bake rye");
    app_.add_subcommand("secret", "For us alone")->group("");
  }

  std::string Page(const CLI::App& command) {
    return ManPage(command, {.program = "bakery",
                             .version = "1.2.3",
                             .sections = {{"MORE", "It is so."}}});
  }

  CLI::App app_;
  CLI::App* bake_;
  std::string text_;
  std::vector<std::string> loaves_;
  bool flag_ = false;
};

TEST_F(ManPageTest, IsNamedAfterTheCommand) {
  EXPECT_EQ(ManPageName(app_, "bakery"), "bakery");
  EXPECT_EQ(ManPageName(*bake_, "bakery"), "bakery-bake");
  EXPECT_THAT(
      Page(*bake_),
      AllOf(StartsWith(".TH \"BAKERY\\-BAKE\" 1 \"\" \"distbench 1.2.3"),
            HasSubstr(".SH NAME\nbakery\\-bake \\- Bakes bread\n"),
            HasSubstr(".SH SYNOPSIS\n\\fBbakery bake\\fR "
                      "[\\fIOPTIONS\\fR] [\\fILOAF\\fR...]\n")));
}

TEST_F(ManPageTest, SaysThatACommandLineMayFollow) {
  bake_->add_option(kTrailingCommandFlag, text_)->group("");
  EXPECT_THAT(Page(*bake_),
              HasSubstr("[\\fILOAF\\fR...] [\\-\\- COMMAND...]\n"));
}

TEST_F(ManPageTest, ListsFlags) {
  const std::string page = Page(*bake_);
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-f\\fR, \\fB\\-\\-infile\\fR="
                              "\\fIFILE\\fR\nThe recipe:\n.br\n\\&.txt: text\n"
                              ".br\nit\\(aqs\n.br\nRequired.\n"));
  EXPECT_THAT(page, HasSubstr("Its form\n.br\nDefault: round\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-\\-quiet\\fR\nNo noise\n"));
}

TEST_F(ManPageTest, TheFooterBecomesDescriptionAndExamples) {
  const std::string page = Page(*bake_);
  EXPECT_THAT(page, HasSubstr(".PP\nFirst line\nof a paragraph.\n"
                              ".PP\n.nf\nKinds:\n  rye\n.fi\n"));
  EXPECT_THAT(page, HasSubstr(".SH EXAMPLES\n.nf\nExamples:\n"
                              "  bakery bake \\e\n"
                              "      \\-\\-form=\\(aqa\\(hab\\(aq\n"));
  EXPECT_THAT(page, HasSubstr(".SH MORE\nIt is so.\n"));
}

TEST_F(ManPageTest, NamesWhatUsersSee) {
  EXPECT_THAT(Page(app_), AllOf(HasSubstr("bakery \\- Bakes bread\n"),
                                HasSubstr(".TP\n\\fBbake\\fR\nBakes bread\n"),
                                HasSubstr("\\fBbakery\\-bake\\fR(1)"),
                                Not(HasSubstr("secret"))));
  EXPECT_THAT(Page(*bake_), HasSubstr(".SH SEE ALSO\n\\fBbakery\\fR(1)\n"));
}

TEST_F(ManPageTest, OnlyConnectionsHaveAnEnvironment) {
  EXPECT_THAT(Page(*bake_), Not(HasSubstr("ENVIRONMENT")));
  bake_->add_option("--tls_ca", text_, "Whom to trust");
  ConnectionDefaults defaults(NoEnvironment());
  defaults.Announce(app_);
  EXPECT_THAT(Page(*bake_), AllOf(HasSubstr(".SH ENVIRONMENT AND FILES\n"),
                                  HasSubstr("Whom to trust\n.br\nEnvironment: "
                                            "DISTBENCH_TLS_CA\n")));
}

}  // namespace
}  // namespace distbench::flags
