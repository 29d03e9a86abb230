// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/parse.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/json.h"
#include "distbench/config/reading/load.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/simulation.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

std::string ErrorOf(const std::string& text) {
  TestSequence sequence;
  const absl::Status status = ParseText(text, "x.config", sequence);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

// protobuf's own parser would skip it.
TEST(ParseText, ARemovedFieldIsRefusedAndTheErrorSaysWhatToDo) {
  const std::string expected =
      "\" has no field named \"transport\". It was removed; leave it out";
  SimulatedFabric fabric;
  const absl::Status refused = ParseText(
      "host { cpus: 4 }\n transport { kind: DCTCP }", "x.fabric", fabric);
  EXPECT_THAT(
      std::string(refused.message()),
      AllOf(StartsWith("x.fabric:2:2: Message type"), HasSubstr(expected)));
  EXPECT_THAT(
      std::string(ParseAnyText("{transport: {kind: DCTCP}}", "x.yaml", fabric)
                      .message()),
      HasSubstr(expected));
  EXPECT_TRUE(ParseText("host { cpus: 4 }", "x.fabric", fabric).ok());
}

TEST(ParseText, ReadsAConfig) {
  TestSequence sequence;
  ASSERT_TRUE(ParseText("tests { name: 'a' }  # comment", "x", sequence).ok());
  EXPECT_EQ(sequence.tests(0).name(), "a");
}

TEST(ParseText, TellsLineAndColumn) {
  EXPECT_THAT(ErrorOf("tests {\n  name: 3\n}"),
              StartsWith("x.config:2:9: Expected string"));
}

TEST(ParseText, AsksForQuotes) {
  EXPECT_EQ(ErrorOf("tests { actions { iterations { rate: 200 } } }"),
            "x.config:1:38: Expected string, got: 200; put it in quotes");
}

// What people write who know other languages.
TEST(ParseText, TellsHowItIsWritten) {
  struct Case {
    const char* text;
    const char* place;
    const char* remedy;
  };
  for (const Case& each : {
           Case{"tests { services { count: '3' } }", "1:27",
                "; write it without quotes"},
           Case{"tests { actions { iterations { max_duration_us: 5s } } }",
                "1:50", "is a text: put it in quotes"},
           Case{"tests_setting { keep_instance_log: yes }", "1:40",
                " It must be true or false."},
           Case{"// A test.\ntests { }", "1:1", "; comments begin with #"},
           Case{"/* A test. */\ntests { }", "1:1", "; comments begin with #"},
           Case{"tests { 'name': 'a' }", "1:9", "have no quotes"},
           Case{"tests { name = 'a' }", "1:14", "NAME: VALUE"},
           Case{"tests = { name: 'a' }", "1:7", "NAME { ... }"},
           Case{"tests { name: \u201ca\u201d }", "1:15",
                "Only texts in quotes and comments may have such characters"},
           Case{"tests { name: 'a'\u00a0}", "1:18", "some spaces are"},
           Case{"tests { services { numa_binding { memory_policy: BNID } } }",
                "1:55", "for field \"memory_policy\"; did you mean \"BIND\"?"},
           Case{"tests { services: 'a' }", "1:19", "NAME { ... }"},
           Case{"tests { } }", "1:11", "; this bracket closes nothing"},
           Case{"tests { services { count: 99999999999 } }", "1:27",
                "docs/traffic_reference.md"},
           Case{"services { name: 'a' }", "1:10", "It is a field of tests."},
       }) {
    EXPECT_THAT(ErrorOf(each.text),
                AllOf(StartsWith(absl::StrCat("x.config:", each.place)),
                      HasSubstr(each.remedy)))
        << each.text;
  }
}

TEST(ParseText, ErrorsAreUtf8) {
  for (const char* text : {"tests { name: \u201ca\u201d }", "\u00a0tests { }",
                           "tests { services { count: '\xf6' } }"}) {
    EXPECT_TRUE(base::IsUtf8(ErrorOf(text))) << text;
  }
}

TEST(ParseText, SuggestsTheRate) {
  EXPECT_THAT(
      ErrorOf("tests { actions { iterations { open_loop_rate: 200 } } }"),
      HasSubstr("Did you mean \"rate\"?"));
}

TEST(ParseText, ListsEveryUnknownFieldAndSuggestsAnother) {
  EXPECT_THAT(
      ErrorOf("tests {\n  servces { name: 'a' }\n  services { cunt: 3 }\n}"),
      MatchesRegex("x.config:2:[0-9]+: .*\"servces\"\\. Did you mean "
                   "\"services\"\\?\nx.config:3:[0-9]+: .*\"cunt\"\\. Did you "
                   "mean \"count\"\\?"));
}

TEST(ParseText, NamesTheBlockThatIsNotClosed) {
  EXPECT_THAT(ErrorOf("tests {\n  services { name: 'a' }\n"),
              HasSubstr("x.config:1:7: This block is not closed"));
  EXPECT_THAT(ErrorOf("tests {\n  services { name: 'a' }\n"),
              EndsWith("Expected identifier, got: the end of the text"));
  // By the indentation, the last line closes the tests.
  EXPECT_THAT(ErrorOf("tests {\n  actions {\n    name: 'a' # {\n}\n"),
              HasSubstr("x.config:2:11: This block is not closed"));
  EXPECT_THAT(ErrorOf("tests {\n  name: 3\n}"), Not(HasSubstr("not closed")));
}

TEST(ParseText, RefusesRepeatedSingularFields) {
  EXPECT_THAT(ErrorOf("tests { name: 'a' name: 'b' }"), HasSubstr("\"name\""));
  EXPECT_THAT(
      ErrorOf("tests { actions { rpc_name: 'a' action_list_name: 'b'}}"),
      HasSubstr("oneof"));
}

TEST(ParseText, RefusesRepeatedMapKeys) {
  EXPECT_EQ(ErrorOf("tests { name: 'a' }\n"
                    "tests {\n"
                    "  attributes { key: 'k' value: '1' }\n"
                    "  attributes { key: 'l' value: '1' }\n"
                    "  attributes { key: 'k' value: '2' }\n"
                    "  action_lists {\n"
                    "    predicate_probabilities { key: 'p' value: 1 }\n"
                    "    predicate_probabilities { key: 'p' value: 0 }\n"
                    "  }\n"
                    "}"),
            "x.config:5:3: The key \"k\" of attributes is given more than "
            "once.\nx.config:8:5: The key \"p\" of predicate_probabilities is "
            "given more than once.");
}

TEST(ParseText, SurvivesDeepNesting) {
  std::string text = "tests { ";
  for (int i = 0; i < 100'000; ++i) text += "a {";
  EXPECT_THAT(ErrorOf(text), HasSubstr("too deep"));
}

TEST(ParseText, ListsABoundedNumberOfErrors) {
  std::string text = "tests {\n";
  for (int i = 0; i < 10'000; ++i) text += "unknown: 1\n";
  EXPECT_LT(ErrorOf(text + "}").size(), 20'000);
  EXPECT_THAT(ErrorOf(text + "}"),
              EndsWith("\nx.config: there may be more than these 100 errors"));
}

}  // namespace
}  // namespace distbench::config
