// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/requests/template.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/fuzzing/random_source.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::MatchesRegex;

const std::vector<std::string> kColumns = {"user", "note:s"};
const std::vector<std::string> kRow = {"alice", "a \"b\"\\\n'c'"};

std::string Fill(const std::string& text, TemplateRequest request = {},
                 TemplateSyntax syntax = TemplateSyntax::kPlain) {
  const auto parsed = Template::Parse(text, syntax, kColumns);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (!parsed.ok()) return "";
  request.row = &kRow;
  request.instance = "client/3";
  std::string filled;
  parsed->AppendTo(request, filled);
  return filled;
}

std::string Problem(const std::string& text) {
  return base::Message(CheckTemplate(text, kColumns));
}

TEST(TemplateTest, TextWithoutVariablesStandsForItself) {
  for (const std::string text :
       {"", "{\"a\": {\"b\": 1}}", "a { b { c: 1 } }", "}}", "{", "{ {"}) {
    EXPECT_EQ(Fill(text), text);
    EXPECT_EQ(
        Template::Parse(text, TemplateSyntax::kJson, {})->variable_count(), 0);
  }
}

TEST(TemplateTest, AFillerIsAsLongAsTheRequestWants) {
  EXPECT_EQ(Fill("a{{filler}}b"), "ab");
  EXPECT_EQ(Fill("a{{filler}}b", {.filler_bytes = 3}), "axxxb");
  EXPECT_TRUE(
      Template::Parse("{{filler}}", TemplateSyntax::kPlain, {})->has_filler());
  EXPECT_THAT(Problem("{{filler}}{{filler}}"), HasSubstr("is there already"));
  EXPECT_THAT(Problem("{{filler:3}}"), HasSubstr("takes nothing"));
}

TEST(TemplateTest, FourBracesStandForTwo) {
  EXPECT_EQ(Fill("{{{{counter}}"), "{{counter}}");
  EXPECT_EQ(Fill("{{{{{{counter}}"), "{{0");
}

TEST(TemplateTest, CountersCount) {
  EXPECT_EQ(Fill("a{{counter}}b", {.number = 7}), "a7b");
  EXPECT_EQ(Fill("{{counter:100:-5}}", {.number = 7}), "65");
  EXPECT_EQ(Fill("{{counter:9223372036854775807:1}}", {.number = 1}),
            "-9223372036854775808");
}

TEST(TemplateTest, RandomIntegersAreUniformAndInRange) {
  constexpr int kRequests = 3000;
  std::map<std::string, int> counts;
  for (int i = 0; i < kRequests; ++i) {
    ++counts[Fill("{{random:-1:1}}", {.seed = 5, .number = i})];
  }
  EXPECT_THAT(counts, ElementsAre(Key("-1"), Key("0"), Key("1")));
  // Ten standard deviations.
  for (const auto& [value, count] : counts) EXPECT_NEAR(count, 1000, 260);
  int64_t value = 0;
  EXPECT_TRUE(absl::SimpleAtoi(
      Fill("{{random:-9223372036854775808:9223372036854775807}}"), &value));
}

TEST(TemplateTest, ChoicesAreAllMade) {
  std::set<std::string> made;
  for (int i = 0; i < 200; ++i) {
    made.insert(Fill("{{choice:a:1||c d}}", {.number = i}));
  }
  EXPECT_THAT(made, ElementsAre("", "a:1", "c d"));
}

TEST(TemplateTest, HexDigitsAndUuids) {
  EXPECT_THAT(Fill("{{random_hex:33}}"), MatchesRegex("[0-9a-f]{33}"));
  EXPECT_THAT(Fill("{{uuid}}"),
              MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]"
                           "{3}-[0-9a-f]{12}"));
  std::set<std::string> uuids;
  for (int i = 0; i < 1000; ++i) uuids.insert(Fill("{{uuid}}", {.number = i}));
  EXPECT_EQ(uuids.size(), 1000);
}

TEST(TemplateTest, SameRequestSameTextAndVariablesAreIndependent) {
  const std::string text = "{{random:0:999999999}}";
  EXPECT_EQ(Fill(text, {.seed = 1, .number = 2}),
            Fill(text, {.seed = 1, .number = 2}));
  EXPECT_NE(Fill(text, {.seed = 1, .number = 2}),
            Fill(text, {.seed = 2, .number = 2}));
  EXPECT_NE(Fill(text, {.seed = 1, .number = 2}),
            Fill(text, {.seed = 1, .number = 3}));
  const std::string twice = Fill("{{random_hex:16}}{{random_hex:16}}");
  EXPECT_NE(twice.substr(0, 16), twice.substr(16));
}

TEST(TemplateTest, ValuesInQuotesAreEscaped) {
  EXPECT_EQ(Fill("{{row:user}}@{{instance}}"), "alice@client/3");
  EXPECT_EQ(Fill("\"{{row:note:s}}\""), "\"a \"b\"\\\n'c'\"");
  EXPECT_EQ(Fill("\"{{row:note:s}}\"", {}, TemplateSyntax::kJson),
            R"("a \"b\"\\\u000a'c'")");
  EXPECT_EQ(Fill("'{{row:note:s}}'", {}, TemplateSyntax::kTextFormat),
            R"('a \"b\"\\\n\'c\'')");
  // Behind an escaped quote, the string goes on.
  EXPECT_EQ(Fill(R"("\"{{row:note:s}}")", {}, TemplateSyntax::kJson),
            R"("\"a \"b\"\\\u000a'c'")");
  EXPECT_EQ(Fill(R"("x" {{row:note:s}})", {}, TemplateSyntax::kJson),
            "\"x\" a \"b\"\\\n'c'");
}

TEST(TemplateTest, ErrorsNameThePlaceAndTheRemedy) {
  EXPECT_THAT(Problem("ab{{conter}}"),
              AllOf(HasSubstr("character 3: \"{{conter}}\""),
                    HasSubstr("did you mean \"counter\"?"),
                    HasSubstr("write {{{{ for two braces")));
  EXPECT_THAT(Problem("{{counter"), HasSubstr("has no \"}}\""));
  EXPECT_THAT(Problem("{{counter:1}}"), HasSubstr("{{counter:START:STEP}}"));
  EXPECT_THAT(Problem("{{random:1:x}}"), HasSubstr("{{random:MIN:MAX}}"));
  EXPECT_THAT(Problem("{{random:2:1}}"), HasSubstr("MIN above its MAX"));
  EXPECT_THAT(Problem("{{random:1:9223372036854775808}}"),
              HasSubstr("64 bits"));
  EXPECT_THAT(Problem("{{random_hex:0}}"), HasSubstr("from 1 to 4096"));
  EXPECT_THAT(Problem("{{choice:}}"), HasSubstr("nothing to choose from"));
  EXPECT_THAT(Problem("{{uuid:4}}"), HasSubstr("takes nothing"));
  EXPECT_THAT(Problem("{{row:usr}}"), HasSubstr("did you mean \"user\"?"));
  EXPECT_THAT(base::Message(CheckTemplate("{{row:user}}")),
              HasSubstr("needs rows, and the RPC has none"));
  EXPECT_THAT(Problem("{{}}"), HasSubstr("is not a variable"));
}

// A bad text has a place that is wrong; a good one can be filled in.
void TryAsTemplate(const std::string& text) {
  SCOPED_TRACE(text);
  const auto parsed =
      Template::Parse(text, TemplateSyntax::kTextFormat, kColumns);
  if (!parsed.ok()) {
    EXPECT_THAT(base::Message(parsed.status()), HasSubstr("character "));
    return;
  }
  std::string filled;
  parsed->AppendTo({.row = &kRow}, filled);
}

TEST(TemplateTest, SurvivesTheKeptCorpus) {
  for (const std::string& text : fuzzing::KeptCorpus("template"))
    TryAsTemplate(text);
}

TEST(TemplateTest, SurvivesRandomText) {
  const std::vector<std::string> words = {
      "{{",     "}}",         "{{{{",    ":",      "|",   "\"",
      "'",      "\\",         "counter", "random", "row", "user",
      "choice", "random_hex", "uuid",    "1",      "-5",  " "};
  fuzzing::RandomSource random(20);
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (int64_t left = random.Between(0, 9); left > 0; --left) {
      text += random.OneOf(words);
    }
    TryAsTemplate(text);
  }
}

}  // namespace
}  // namespace distbench::external
