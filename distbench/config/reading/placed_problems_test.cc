// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/load.h"

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "distbench/config/problems/problem.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;
using ::testing::StartsWith;

// ---- Places that are marked in texts ----------------------------------------

constexpr char kMark = '@';

struct MarkedText {
  std::string text;                 // without the marks
  std::vector<std::string> places;  // of what follows each mark: "2:5"
};

// Of a text whose characters have a byte each.
MarkedText Unmark(const std::string& marked) {
  MarkedText result;
  int line = 1;
  int column = 1;
  for (const char byte : marked) {
    if (byte == kMark) {
      result.places.push_back(absl::StrCat(line, ":", column));
      continue;
    }
    result.text += byte;
    ++column;
    if (byte == '\n') {
      ++line;
      column = 1;
    }
  }
  return result;
}

// What is wrong with a config.
std::vector<std::string> LinesOf(const std::string& source,
                                 const std::string& text) {
  const auto sequence = ParseTestSequence(text, source);
  EXPECT_TRUE(sequence.ok()) << sequence.status() << "\n" << text;
  if (!sequence.ok()) return {};
  const auto checked = CheckTestSequence(*sequence, {source, text});
  EXPECT_FALSE(checked.ok());
  return absl::StrSplit(checked.status().message(), '\n');
}

// Each mark is the place of a problem, whose path and message begin as told.
void ExpectAtMarks(const std::string& source, const std::string& marked,
                   const std::vector<std::string>& problems) {
  const MarkedText text = Unmark(marked);
  const std::vector<std::string> lines = LinesOf(source, text.text);
  ASSERT_THAT(text.places, SizeIs(problems.size()));
  ASSERT_THAT(lines, SizeIs(problems.size())) << absl::StrJoin(lines, "\n");
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_THAT(lines[i], StartsWith(absl::StrCat(source, ":", text.places[i],
                                                  ": tests[0].", problems[i])))
        << text.text;
  }
}

// ---- The same ten problems in each format -----------------------------------

const std::vector<std::string>& TenProblems() {
  static const auto* const problems = new std::vector<std::string>{
      "attributes[\"test_timeout\"]: ",
      "services[\"client\"].count: 0 is out of range",
      "services[2].name: \"client\" is the name of services[0] as well",
      "size_distribution_configs[\"sizes\"].cdf_points[1].value: is missing",
      "rpc_descriptions[\"query\"].client[1]: no service is named \"cleint\"",
      "rpc_descriptions[\"query\"].policy.retry.max_attempts: 1000",
      "action_lists[\"client\"].predicate_probabilities[\"lucky\"]: 1.5",
      "actions[\"run\"].rpc_name: no RPC is named \"quary\"",
      "actions[\"run\"].iterations.max_duration: ",
      "node_service_bundles[\"node0\"].services[1]: ",
  };
  return *problems;
}

constexpr char kTenInText[] = R"(tests {
  attributes { key: "a" value: "b" }
  @attributes { key: "test_timeout" value: "soon" }
  services { name: "client" @count: 0 }
  services < name: "server" count: 2 >;
  services { @name: "client" count: 1 }
  size_distribution_configs {
    name: "sizes"
    cdf_points: [{ cdf: 0.5 value: 1 }, @{ cdf: 1 }]
  }
  payload_descriptions { name: "some" size_distribution_name: "sizes" }
  # A list in brackets, and one whose elements are fields of their own.
  rpc_descriptions {
    name: "query"
    client: ["client", @'cleint'], client: "server"
    server: "server" request_payload_name: "so" "me"
    policy {
      retry { @max_attempts: 1000 }
    }
  }
  action_lists {
    name: "client" action_names: "run"
    @predicate_probabilities { key: "lucky" value: 1.5 }
  }
  action_lists { name: "query" }
  actions {
    name: "run"
    @rpc_name: "quary"
    iterations { @max_duration: "4 parsecs" }
  }
  node_service_bundles {
    key: "node0"
    value { services: "server/0" @services: "serfer/0" }
  }
}
)";

constexpr char kTenInYaml[] = R"(# A comment.
tests:
- attributes:
    a: b
    @test_timeout: soon
  services:
  - name: client
    @count: 0
  - {name: server, count: 2}
  - count: 1
    @name: client
  sizeDistributionConfigs:
  - name: sizes
    cdf_points:
    - {cdf: 0.5, value: 1}
    - @{cdf: 1}
  payload_descriptions:
  - {name: some, size_distribution_name: sizes}
  rpc_descriptions:
  - name: query
    client: [client, @cleint, server]
    server: server
    request_payload_name: some
    policy:
      retry:
        @maxAttempts: 1000
  action_lists:
  - name: client
    action_names: [run]
    predicate_probabilities:
      @lucky: 1.5
  - name: query
  actions:
  - name: run
    @rpc_name: quary
    iterations: {@max_duration: 4 parsecs}
  node_service_bundles:
    node0:
      services:
      - server/0
      - @serfer/0
)";

constexpr char kTenInJson[] = R"({
  "tests": [{
    "attributes": {"a": "b", @"test_timeout": "soon"},
    "services": [
      {"name": "client", @"count": 0},
      {"name": "server", "count": 2},
      {@"name": "client", "count": 1}
    ],
    "size_distribution_configs": [{
      "name": "sizes",
      "cdfPoints": [{"cdf": 0.5, "value": 1}, @{"cdf": 1}]
    }],
    "payloadDescriptions": [
      {"name": "some", "sizeDistributionName": "sizes"}],
    "rpcDescriptions": [{
      "name": "query",
      "client": ["client",
                 @"cleint", "server"],
      "server": "server",
      "requestPayloadName": "some",
      "policy": {"retry": {@"maxAttempts": 1000}}
    }],
    "action_lists": [
      {"name": "client", "action_names": ["run"],
       "predicate_probabilities": {@"lucky": 1.5}},
      {"name": "query"}
    ],
    "actions": [{"name": "run", @"rpcName": "quary",
                 "iterations": {@"max_duration": "4 parsecs"}}],
    "node_service_bundles": {
      "node0": {"services": ["server/0", @"serfer/0"]}}
  }]
}
)";

struct Written {
  const char* source;
  const char* marked;
};

constexpr Written kTen[] = {
    {"x.config", kTenInText}, {"x.yaml", kTenInYaml}, {"x.json", kTenInJson}};

TEST(PlacesOfProblems, AreThoseOfTheFile) {
  for (const Written& written : kTen) {
    ExpectAtMarks(written.source, written.marked, TenProblems());
  }
}

TEST(PlacesOfProblems, AreTheSameWithLineEndsOfWindows) {
  for (const Written& written : kTen) {
    ExpectAtMarks(written.source,
                  absl::StrReplaceAll(written.marked, {{"\n", "\r\n"}}),
                  TenProblems());
  }
}

// A tab is a character like others. YAML has none as indentation.
TEST(PlacesOfProblems, CountATabAsOneColumn) {
  for (const Written& written : {kTen[0], kTen[2]}) {
    ExpectAtMarks(written.source,
                  absl::StrReplaceAll(written.marked, {{"  ", "\t"}}),
                  TenProblems());
  }
}

// ---- What the text does not have --------------------------------------------

TEST(PlacesOfProblems, OfWhatIsMissingAreThoseOfWhatLacksIt) {
  const std::vector<std::string> problems = {
      "rpc_descriptions[0].name: is missing",
      "rpc_descriptions[0].server: is missing",
      "action_lists[\"client\"].action_names[0]: no action",
  };
  ExpectAtMarks("x.config",
                "tests {\n"
                "  services { name: 'client' count: 1 }\n"
                "  @@rpc_descriptions { client: 'client' }\n"
                "  action_lists { name: 'client' @action_names: 'run' }\n"
                "}\n",
                problems);
  ExpectAtMarks("x.yaml",
                "tests:\n"
                "- services: [{name: client, count: 1}]\n"
                "  rpc_descriptions:\n"
                "  - @@client: [client]\n"
                "  action_lists: [{name: client, action_names: [@run]}]\n",
                problems);
}

// Problems are those of the canonical form, in which quantities are numbers.
TEST(PlacesOfProblems, OfANumberAndItsTextWithAUnitAreTheSame) {
  const ConfigText text = {"x.config",
                           "tests { actions { name: 'a' iterations {\n"
                           "  max_duration: '1s' } }\n"
                           "actions { name: 'b' iterations {\n"
                           "    max_duration_us: 1 } } }\n"};
  EXPECT_THAT(
      PlacedLines({{"tests[0].actions[\"a\"].iterations.max_duration_us", "1"},
                   {"tests[0].actions[\"a\"].iterations.max_duration", "2"},
                   {"tests[0].actions[\"b\"].iterations.max_duration_us", "3"},
                   {"tests[0].actions[\"b\"].iterations.max_duration", "4"}},
                  text),
      ElementsAre(StartsWith("x.config:2:3: "), StartsWith("x.config:2:3: "),
                  StartsWith("x.config:4:5: "), StartsWith("x.config:4:5: ")));
}

// Names are cut short in paths, so that these do not tell which it is.
TEST(PlacesOfProblems, OfLongNamesThatLookTheSameAreTheirList) {
  const std::string long_name(100, 'x');
  const ConfigText text = {
      "x.yaml", absl::StrCat("tests:\n- actions:\n  - name: ", long_name,
                             "1\n  - name: ", long_name,
                             "2\n  services:\n  - name: one\n  - name: ",
                             long_name, "\n")};
  EXPECT_THAT(
      PlacedLines(
          {{Path("tests").At(0).Field("actions").At(long_name).text(), "1"},
           {Path("tests").At(0).Field("services").At(long_name).text(), "2"}},
          text),
      ElementsAre(StartsWith("x.yaml:2:3: "), StartsWith("x.yaml:7:5: ")));
}

TEST(PlacesOfProblems, OfBinaryConfigsAreTheFile) {
  TestSequence sequence;
  sequence.add_tests()->add_services()->set_count(0);
  const std::string bytes = sequence.SerializeAsString();
  const std::vector<std::string> lines = LinesOf("x.pb", bytes);
  ASSERT_FALSE(lines.empty());
  for (const std::string& line : lines) {
    EXPECT_THAT(line, StartsWith("x.pb: tests[0]"));
  }
}

TEST(PlacesOfProblems, OthersComeLast) {
  const ConfigText text = {"x.config", "tests { name: 'a' }\n"};
  EXPECT_THAT(
      PlacedLines({{"", "and more"}, {"tests[0].name", "bad"}, {"x[", "odd"}},
                  text),
      ElementsAre("x.config:1:9: tests[0].name: bad", "x.config: and more",
                  "x.config: x[: odd"));
  EXPECT_TRUE(ToStatus({}, text).ok());
}

TEST(WithPlaces, GivesTheProblemsOfASequencerTheirPlaces) {
  const ConfigText text = {"x.config", "tests { name: 'a' }\n"};
  EXPECT_EQ(
      WithPlaces(absl::InvalidArgumentError(
                     "tests[0].name: is \"a\"; bad\n2 more problems"),
                 text),
      absl::InvalidArgumentError("x.config:1:9: tests[0].name: is \"a\"; bad\n"
                                 "x.config: 2 more problems"));
  for (const absl::Status& other :
       {absl::OkStatus(), absl::InvalidArgumentError("label: is too long"),
        absl::AbortedError("tests[0].name: lost")}) {
    EXPECT_EQ(WithPlaces(other, text), other);
  }
}

// ---- What a column counts ---------------------------------------------------

TEST(Columns, CountCharacters) {
  for (const char* mark : {"", "\xef\xbb\xbf"}) {
    EXPECT_THAT(
        LinesOf(
            "x.config",
            absl::StrCat(
                mark, "tests { name: 'größe🙂' services { count: 0 } }")),
        IsSupersetOf(
            {StartsWith("x.config:1:24: tests[0].services[0].name: "),
             StartsWith("x.config:1:35: tests[0].services[0].count")}));
    EXPECT_THAT(
        LinesOf(
            "x.yaml",
            absl::StrCat(
                mark, "tests: [{name: größe🙂, services: [{count: 0}]}]")),
        IsSupersetOf({StartsWith("x.yaml:1:35: tests[0].services[0].name: "),
                      StartsWith("x.yaml:1:36: tests[0].services[0].count")}));
  }
}

TEST(Columns, OfSyntaxErrorsCountCharactersAsWell) {
  EXPECT_THAT(std::string(ParseTestSequence("tests {\n\tname: 'ö'\tnmae: 1 }",
                                            "x.config")
                              .status()
                              .message()),
              StartsWith("x.config:2:16: Message type"));
  EXPECT_THAT(
      std::string(ParseTestSequence("tests:\n- {name: ö, nmae: 1}", "x.yaml")
                      .status()
                      .message()),
      StartsWith("x.yaml:2:13: Message type"));
}

// ---- Files ------------------------------------------------------------------

TEST(PlacesOfProblems, OfFilesThatATestNamesAreThoseOfTheirNames) {
  const std::string path = ::testing::TempDir() + "/places.yaml";
  std::ofstream(path) << "tests:\n"
                         "- actions:\n"
                         "  - name: run\n"
                         "    iterations:\n"
                         "      arrivals:\n"
                         "        recorded: {file: none.csv}\n";
  EXPECT_THAT(std::string(LoadTestSequence(path).status().message()),
              StartsWith(path + ":6:20: tests[0].actions[\"run\"].iterations."
                                "arrivals.recorded.file: "));
}

TEST(PlacesOfProblems, OfFilesAreThoseOfTheActionThatNamesThem) {
  const std::string path = ::testing::TempDir() + "/actions.yaml";
  std::ofstream(path) << R"(tests:
- actions:
  - name: run
  - name: run
    iterations: {arrivals: {recorded: {file: none.csv}}}
  - {}
  - iterations: {arrivals: {recorded: {file: none.csv}}}
)";
  const std::vector<std::string> lines = absl::StrSplit(
      LoadTestSequence(path).status().message(), '\n', absl::SkipEmpty());
  EXPECT_THAT(
      lines, ElementsAre(StartsWith(path + ":5:40: tests[0].actions[1].itera"),
                         StartsWith(path + ":7:40: tests[0].actions[3].iter")));
}

TEST(LoadTestSequence, GivesTheTextAndItsSource) {
  const std::string path = ::testing::TempDir() + "/text.config";
  std::ofstream(path) << "tests { name: 'a' }";
  ConfigText text;
  ASSERT_TRUE(LoadTestSequence(path, &text).ok());
  EXPECT_EQ(text.source, path);
  EXPECT_EQ(text.contents, "tests { name: 'a' }");
}

}  // namespace
}  // namespace distbench::config
