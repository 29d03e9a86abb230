// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/flags/completion.h"

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::flags {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Paths = Completion::Paths;

class CompletionTest : public testing::Test {
 protected:
  CompletionTest() : app_("Bakes", "bakery") {
    CLI::App* bake = app_.add_subcommand("bake", "Bakes bread\nand cakes");
    bake->add_option("--infile", text_,
                     "The recipe, of any\nage. Old ones are better")
        ->type_name("FILE");
    bake->add_option("--outdir", text_, "Where it goes")->type_name("DIR");
    bake->add_option("--form", text_, "Its form")->type_name("N|round|long");
    bake->add_option("--table", text_,
                     "How it is laid:\n  oak: old\n  ash: new")
        ->type_name("TABLE");
    bake->add_option("-r,--run", text_, "Which one\nEnvironment: RUN")
        ->type_name("RUN");
    bake->add_option("-o", text_, "Elsewhere")->type_name("FILE");
    bake->add_option("--for", list_, "Guests")->type_name("NAME[,NAME...]");
    bake->add_flag("--quiet", flag_, "No noise");
    bake->add_option("LOAF", text_, "Which loaf");
    bake->add_option("RESULT", list_, "Others")->option_text(" ");
    CLI::App* oven = app_.add_subcommand("oven", "Looks after the oven");
    oven->add_subcommand("heat", "Heats it");
    oven->add_subcommand("clean", "Cleans it");
    app_.add_subcommand("secret", "For us alone")->group("");
  }

  Completion Ask(std::vector<std::string> words) {
    return Complete(app_, std::move(words),
                    [this](const ValueRequest& request) {
                      asked_ = request.type;
                      words_ = request.words;
                      if (request.type == "RUN") {
                        return std::vector<Candidate>{
                            {"17-a", "the first"}, {"18-b"}, {"-19-c"}};
                      }
                      if (request.type == "NAME") {
                        return std::vector<Candidate>{{"ann"}, {"bob"}};
                      }
                      if (request.type == "LOAF") {
                        return std::vector<Candidate>{{"rye"}, {"--rusk"}};
                      }
                      return std::vector<Candidate>();
                    });
  }

  std::vector<std::string> Words(std::vector<std::string> words) {
    std::vector<std::string> found;
    for (const Candidate& candidate : Ask(std::move(words)).candidates) {
      found.push_back(candidate.word);
    }
    return found;
  }

  CLI::App app_;
  std::string text_;
  std::vector<std::string> list_;
  bool flag_ = false;
  std::string asked_;
  std::vector<std::string> words_;
};

TEST_F(CompletionTest, Subcommands) {
  EXPECT_THAT(Words({""}), ElementsAre("bake", "oven"));
  EXPECT_THAT(Words({"b"}), ElementsAre("bake"));
  EXPECT_EQ(Ask({"b"}).candidates[0].description, "Bakes bread and cakes");
  EXPECT_THAT(Words({"oven", ""}), ElementsAre("heat", "clean"));
  EXPECT_THAT(Words({"cook", ""}), IsEmpty());
}

TEST_F(CompletionTest, Flags) {
  EXPECT_THAT(Words({"bake", "--in"}), ElementsAre("--infile="));
  EXPECT_THAT(Words({"bake", "--q"}), ElementsAre("--quiet"));
  EXPECT_THAT(Words({"bake", "-"}),
              ElementsAre("--help", "--infile=", "--outdir=", "--form=",
                          "--table=", "--run=", "-o", "--for=", "--quiet"));
  EXPECT_THAT(Words({"oven", "--in"}), IsEmpty());
}

// Lines of a description are broken for the help text.
TEST_F(CompletionTest, DescriptionsAreSentences) {
  const auto description_of = [this](const std::string& flag) {
    return Ask({"bake", flag}).candidates[0].description;
  };
  EXPECT_EQ(description_of("--inf"), "The recipe, of any age");
  EXPECT_EQ(description_of("--tab"), "How it is laid");
  EXPECT_EQ(description_of("--run"), "Which one");
}

TEST_F(CompletionTest, PathsAreLeftToTheShell) {
  EXPECT_EQ(Ask({"bake", "--infile=a"}).paths, Paths::kFiles);
  EXPECT_EQ(Ask({"bake", "--infile", "a"}).paths, Paths::kFiles);
  EXPECT_EQ(Ask({"bake", "-o", ""}).paths, Paths::kFiles);
  EXPECT_EQ(Ask({"bake", "--outdir="}).paths, Paths::kFolders);
  EXPECT_EQ(Ask({"bake", "--quiet="}).paths, Paths::kNone);
}

TEST_F(CompletionTest, ChoicesStandInTheTypeOrInTheDescription) {
  EXPECT_THAT(Words({"bake", "--form="}),
              ElementsAre("--form=round", "--form=long"));
  EXPECT_THAT(Words({"bake", "--form", "l"}), ElementsAre("long"));
  EXPECT_THAT(Words({"bake", "--table="}),
              ElementsAre("--table=oak", "--table=ash"));
  EXPECT_EQ(Ask({"bake", "--table=a"}).candidates[0].description, "new");
}

TEST_F(CompletionTest, ValuesComeFromTheSource) {
  EXPECT_THAT(Words({"bake", "--run=17"}), ElementsAre("--run=17-a"));
  EXPECT_THAT(Words({"bake", "-r", ""}), ElementsAre("17-a", "18-b"));
  EXPECT_THAT(words_, ElementsAre("bake", "-r"));
  EXPECT_THAT(Words({"bake", "--for=ann,b"}), ElementsAre("--for=ann,bob"));
}

// The names of others may begin with a dash.
TEST_F(CompletionTest, ValuesAreNotOfferedWhereTheyWouldBeFlags) {
  EXPECT_THAT(Words({"bake", ""}), ElementsAre("rye"));
  EXPECT_THAT(Words({"bake", "--run", ""}), ElementsAre("17-a", "18-b"));
  EXPECT_THAT(Words({"bake", "--run="}),
              ElementsAre("--run=17-a", "--run=18-b", "--run=-19-c"));
}

TEST_F(CompletionTest, ArgumentsAreCounted) {
  EXPECT_THAT(Words({"bake", "--quiet", "--run", "x", ""}), ElementsAre("rye"));
  EXPECT_EQ(Ask({"bake", "rye", ""}).paths, Paths::kFiles);
  EXPECT_EQ(Ask({"bake", "rye", "a", "b", ""}).paths, Paths::kFiles);
}

TEST_F(CompletionTest, TextIsForScripts) {
  EXPECT_EQ(CompletionText({.candidates = {{"a=", "x\ty\nz"}, {"b"}},
                            .paths = Paths::kFolders}),
            ":folders\na=\tx y z\nb\t\n");
  // Names are anybody's, and the shell types the word for the user.
  EXPECT_EQ(
      CompletionText(
          {.candidates = {{"$(reboot)"}, {"a b"}, {"a;b"}, {"a\nb"}, {"`a`"}}}),
      "");
}

TEST_F(CompletionTest, FlagValues) {
  EXPECT_EQ(FlagValue({"x", "--run=1", "--run=2"}, "--run"), "1");
  EXPECT_EQ(FlagValue({"--run", "1"}, "--run"), "1");
  EXPECT_EQ(FlagValue({"--runs=1", "--run"}, "--run"), "");
}

}  // namespace
}  // namespace distbench::flags
