// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/parse.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TestSequence Parsed(const std::string& yaml) {
  TestSequence sequence;
  const absl::Status status = ParseYaml(yaml, "x.yaml", sequence);
  EXPECT_TRUE(status.ok()) << status << "\n" << yaml;
  return sequence;
}

TestSequence OfText(const std::string& text) {
  TestSequence sequence;
  const absl::Status status = ParseText(text, "x.config", sequence);
  EXPECT_TRUE(status.ok()) << status;
  return sequence;
}

std::string ErrorOf(const std::string& yaml) {
  TestSequence sequence;
  const absl::Status status = ParseYaml(yaml, "x.yaml", sequence);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << yaml;
  return std::string(status.message());
}

void ExpectReads(const std::string& yaml, const std::string& text) {
  const TestSequence read = Parsed(yaml);
  EXPECT_TRUE(MessageDifferencer::Equals(read, OfText(text)))
      << yaml << "\nis read as\n"
      << read.DebugString();
}

// ---- What is read -----------------------------------------------------------

constexpr char kText[] = R"(
    tests {
      name: "a"
      attributes { key: "k" value: "1.10" }
      services { name: "client" count: 3 }
      sample_memory_bytes: 1000
      action_lists {
        name: "client"
        action_names: "run"
        predicate_probabilities { key: "p" value: 0.1 }
      }
      actions {
        name: "run"
        rpc_name: "query"
        iterations { rate: "200" arrivals { recorded { times: "0\n1\n" } } }
      }
    }
    tests_setting { keep_instance_log: false })";

TEST(ParseYaml, ReadsYaml) {
  ExpectReads(R"(# A comment.
tests:
- name: a
  attributes:
    k: 1.10   # not 1.1
  services:
  - {name: client, count: 3}
  sample_memory_bytes: 1e3
  action_lists:
  - name: client
    action_names: [run]
    predicate_probabilities: {p: 0.1}
  actions:
    - name: run
      rpc_name: query
      iterations:
        rate: 200
        arrivals:
          recorded:
            times: MAoxCg==
tests_setting:
  keep_instance_log: False
)",
              kText);
}

TEST(ParseYaml, ReadsJson) {
  const std::string json = R"({
	"tests": [
		{"name":"a", "attributes": {"k": "1.10"},
		 "services": [{"name": "client", "count": "3"}],
		 "sampleMemoryBytes": "1000",
		 "actionLists": [{"name": "client", "actionNames": ["run"],
		   "predicateProbabilities": {"p": 0.1}}],
		 "actions": [{"name": "run", "rpcName": "query", "actionListName": null,
		   "iterations": {"rate": "200",
		     "arrivals": {"recorded": {"times": "MAoxCg=="}}}}]
		}],
	"testsSetting": {"keepInstanceLog": false}})";
  ExpectReads(json, kText);
  TestSequence by_protobuf;
  ASSERT_TRUE(
      google::protobuf::util::JsonStringToMessage(json, &by_protobuf).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(Parsed(json), by_protobuf));
}

TEST(ParseYaml, WordsOfTextsMeanNothingElse) {
  ExpectReads("tests: [{name: no, attributes: {a: null_, b: 0x10, c: '~'}}]",
              "tests { name: 'no' attributes { key: 'a' value: 'null_' } "
              "attributes { key: 'b' value: '0x10' } attributes { key: 'c' "
              "value: '~' } }");
}

// JSON writes characters above U+FFFF as pairs of surrogates.
TEST(ParseYaml, ReadsPairsOfSurrogates) {
  ExpectReads(
      "{\"tests\": [{\"name\": \"a\\ud83d\\ude00\\\\ud83d\\uD83D\\uDE01b\",\n"
      "  # \"\\ud83d\\ude00\" in a comment\n"
      "  \"attributes\": {\"\\ud834\\udd1e\": \"\\udbff\\udfff\"}}]}",
      "tests { name: 'a\U0001f600\\\\ud83d\U0001f601b' attributes {"
      "key: '\U0001d11e' value: '\U0010ffff' } }");
  // Without double quotes, they are not escapes.
  ExpectReads(
      "tests:\n- name: \\ud83d\\ude00\n- name: '\\ud83d\\ude01'\n"
      "- name: \"\\ud83d\\ude02\"\n- name: \"\\ufdd0\\ufdd0\"\n",
      "tests { name: '\\\\ud83d\\\\ude00' } tests { name: "
      "'\\\\ud83d\\\\ude01' } tests { name: '\U0001f602' } "
      "tests { name: '\ufdd0\ufdd0' }");
  // What looks like the escape that stands for a pair stays as it is written.
  ExpectReads(
      "tests:\n- name: 'it''s \\U0001f600 \\ud83d\\ude00 \\U0001f600'\n"
      "- name: |-\n    \\ud83d\\ude00\n    \\U0001f600\n",
      "tests { name: \"it's \\\\U0001f600 \\\\ud83d\\\\ude00 \\\\U0001f600\" } "
      "tests { name: '\\\\ud83d\\\\ude00\\n\\\\U0001f600' }");
}

TEST(ParseYaml, AnchorsAndTagsStandBeforeValues) {
  ExpectReads("tests: [{name: &n null, sample_memory_bytes: !!int 5}]",
              "tests { sample_memory_bytes: 5 }");
  ExpectReads("tests:\n- name: &n !!str\n    'it''s'\n",
              "tests { name: \"it's\" }");
}

TEST(ParseYaml, AnEmptyTextIsAnEmptyMessage) {
  ExpectReads("", "");
  ExpectReads("# nothing\n", "");
  ExpectReads("{}", "");
}

TEST(ParseYaml, AliasesAndMerges) {
  ExpectReads(R"(
tests:
- name: a
  services:
  - &base
    name: client
    count: 3
  - {<<: *base, name: server}
  - <<: [{name: third}, *base]
- name: b
  services:
  - *base
)",
              R"(
    tests {
      name: "a"
      services { name: "client" count: 3 }
      services { name: "server" count: 3 }
      services { name: "third" count: 3 }
    }
    tests { name: "b" services { name: "client" count: 3 } })");
}

// ---- What is wrong ----------------------------------------------------------

struct WrongCase {
  const char* text;
  const char* error;
};

void ExpectErrors(const WrongCase& wrong) {
  EXPECT_THAT(ErrorOf(wrong.text), StartsWith(wrong.error)) << wrong.text;
}

TEST(ParseYaml, TellsWhatIsWrongInYaml) {
  for (const WrongCase& wrong : std::vector<WrongCase>{
           {"tests:\n- servces: []\n",
            "x.yaml:2:3: Message type \"distbench.DistributedSystemDescription"
            "\" has no field named \"servces\". Did you mean \"services\"?"},
           {"tests:\n- name: [a]\n",
            "x.yaml:2:9: name is a list; must be a single value"},
           {"tests:\n- services:\n    name: a\n",
            "x.yaml:3:5: services is a map; must be a list"},
           {"tests:\n- a\n",
            "x.yaml:2:3: expected fields of DistributedSystemDescription, "
            "found a single value; the fields are \"services\""},
           {"tests:\n- services:\n  - count: many\n",
            "x.yaml:3:12: count is \"many\"; must be a whole number"},
           {"tests:\n- services:\n  - count: 5000000000\n",
            "x.yaml:3:12: count is \"5000000000\"; must be from -2147483648 to "
            "2147483647"},
           {"tests:\n- services:\n  - count: 010\n",
            "x.yaml:3:12: count is \"010\"; must be a whole number"},
           {"tests_setting:\n  keep_instance_log: yes\n",
            "x.yaml:2:22: keep_instance_log is \"yes\"; must be true or false"},
           {"tests:\n- name: a\n  services: []\n  name: b\n",
            "x.yaml:4:3: The field \"name\" is given more than once."},
           {"tests:\n- attributes:\n    k: 1\n    k: 2\n",
            "x.yaml:4:5: The key \"k\" of attributes is given more than once."},
           {"tests:\n- actions:\n  - rpc_name: a\n    action_list_name: b\n",
            "x.yaml:4:5: The field \"action_list_name\" is given along with "
            "another member of the oneof \"action\"."},
           {"tests:\n- services:\n  name: a\n",
            "x.yaml:2:3: services has no value; leave it out, or indent what "
            "belongs to it, or write []"},
           {"tests:\n- name: a: b\n",
            "x.yaml:2:10: illegal map value; put a text that contains \": \""},
           {"tests:\n- name: a\n services: []\n", "x.yaml:3:2: end of "},
           {"tests:\n- name: a\n\tservices: []\n", "x.yaml:3:"},
           {"tests: *other\n",
            "x.yaml:1:8: the referenced anchor is not defined"},
           {"tests: &all [*all]\n", "x.yaml:1:14: this alias is within"},
           {"tests:\n- name: 'a\n  services: []\n",
            "x.yaml:2:9: the quote that begins here has no end; add it"},
           {"tests:\n- name: &n \"a\n",
            "x.yaml:2:9: the quote that begins here has no end; add it"},
           {"tests:\n- name: !!str 'a\n",
            "x.yaml:2:9: the quote that begins here has no end; add it"},
           {"tests:\n- name: !!binary aGVsbG8=\n",
            "x.yaml:2:9: name is \"aGVsbG8=\"; must be a text; write it "
            "without !!binary"},
           {"tests:\n- name: !!null a\n", "x.yaml:2:9: the tag "},
           {"tests:\n- sample_memory_bytes: 9.3e15\n",
            "x.yaml:2:24: sample_memory_bytes is \"9.3e15\"; must be from "
            "-9223372036854775808 to 9223372036854775807, with all digits and "
            "no exponent"},
           {"tests:\n- sample_memory_bytes: 1e400\n",
            "x.yaml:2:24: sample_memory_bytes is \"1e400\"; must be from"},
           {"tests:\n- sample_memory_bytes: .inf\n",
            "x.yaml:2:24: sample_memory_bytes is \".inf\"; must be a whole"},
           {"tests:\n- services:\n  - numa_binding: {memory_policy: 02}\n",
            "x.yaml:3:35: memory_policy is \"02\"; must be one of"},
           {"tests: []\n---\ntests: []\n", "x.yaml:2:1: a second document"},
           {"tests: !mine []\n",
            "x.yaml:1:8: the tag \"!mine\" has no meaning"},
           {"tests:\n- name: \xff\n", "x.yaml:2:9: a character of this line"},
       }) {
    ExpectErrors(wrong);
  }
}

TEST(ParseYaml, TellsWhatWasProbablyMeant) {
  for (const WrongCase& wrong : std::vector<WrongCase>{
           {"services: []\n",
            "x.yaml:1:1: Message type \"distbench.TestSequence\" has no field "
            "named \"services\". It is a field of tests."},
           {"tests:\n- actions:\n  - rate: 200/s\n",
            "x.yaml:3:5: Message type \"distbench.Action\" has no field named "
            "\"rate\". It is a field of iterations."},
           {"tests:\n- payload_descriptions:\n  - size: 100B\n",
            "x.yaml:3:11: size is \"100B\"; must be a whole number, in "
            "decimal; with a unit, write size_with_unit"},
           {"tests:\n\t- name: a\n",
            "x.yaml:2:2: illegal block entry; begin each item of a list"},
       }) {
    ExpectErrors(wrong);
  }
  EXPECT_EQ(ErrorOf("tests:\n- services:\n  - count: 20000000000000000000\n"),
            "x.yaml:3:12: count is \"20000000000000000000\"; must be from "
            "-2147483648 to 2147483647");
  EXPECT_THAT(ErrorOf("tests:\n- name: a\n\tservices: []\n"),
              HasSubstr("by spaces"));
}

TEST(ParseYaml, TellsHowCommentsAreWritten) {
  for (const char* text :
       {"// A test.\n{\"tests\": [{\"name\": \"a\"}]}",
        "/* A test. */\n{\"tests\": [{\"name\": \"a\"}]}",
        "{\"tests\": [{\"name\": \"a\", // the name\n \"services\": []}]}",
        "{\"tests\": [{/* the name */ \"name\": \"a\"}]}"}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("omments begin with #")) << text;
  }
}

TEST(ParseYaml, TellsHowAnchorsAreWritten) {
  EXPECT_THAT(ErrorOf("tests: *other\n"),
              HasSubstr("; an alias such as *name needs &name before it"));
}

TEST(ParseYaml, TellsWhatIsWrongInJson) {
  for (const WrongCase& wrong : std::vector<WrongCase>{
           {"{\"tests\": [\n  {\"rpcDescription\": []}]}",
            "x.yaml:2:4: Message type \"distbench.DistributedSystemDescription"
            "\" has no field named \"rpcDescription\". Did you mean "
            "\"rpc_descriptions\"?"},
           {"{\"tests\": [\n  {\"name\": {}}]}",
            "x.yaml:2:12: name is a map; must be a single value"},
           {"{\"tests\":\n  {\"name\": \"a\"}}",
            "x.yaml:2:3: tests is a map; must be a list"},
           {"{\"tests\": [\n  null]}",
            "x.yaml:2:3: expected fields of DistributedSystemDescription, "
            "found null"},
           {"{\"tests\": [{\"services\": [\n  {\"count\": 1.5}]}]}",
            "x.yaml:2:13: count is \"1.5\"; must be a whole number"},
           {"{\"tests\": [{\"services\": [\n  {\"count\": -1e10}]}]}",
            "x.yaml:2:13: count is \"-1e10\"; must be from"},
           {"{\"tests\": [{\"action_lists\": [\n"
            "  {\"predicate_probabilities\": {\"p\": 1e39}}]}]}",
            "x.yaml:2:37: value is \"1e39\"; must be at most 3.40282e+38"},
           {"{\"tests\": [{\"actions\": [{\"iterations\": {\"arrivals\":\n"
            "  {\"recorded\": {\"times\": \"?\"}}}}]}]}",
            "x.yaml:2:26: times is \"?\"; must be bytes in base64"},
           {"{\"tests\": [],\n  \"tests\": []}",
            "x.yaml:2:3: The field \"tests\" is given more than once."},
           {"{\"testsSetting\": {},\n  \"tests_setting\": {}}",
            "x.yaml:2:3: The field \"tests_setting\" is given more than once."},
           {"{\"tests\": [{\"name\": \"a\"\n  \"services\": []}]}",
            "x.yaml:2:3: end of map flow not found; a \",\" or a"},
           {"{\"tests\": [{\"name\": \"a\"]}", "x.yaml:1:24: illegal flow end"},
           {"{\"tests\": [{\"name\": \"a}]}", "x.yaml:1:"},
           {"{\"tests\": [{\"name\": \"\\ud83d\"}]}",
            "x.yaml:1:28: invalid unicode: 55357; write the character itself"},
           {"{\"tests\": [{\"name\": \"\\ude00\\ud83d\"}]}",
            "x.yaml:1:28: invalid unicode: 56832; write the character itself"},
           {"{\"tests\": [{\"name\": \"\\ud83d\\ude00\", \"nme\": 1}]}",
            "x.yaml:1:37: Message type"},
       }) {
    ExpectErrors(wrong);
  }
}

TEST(ParseYaml, SuggestsWordsOfEnums) {
  EXPECT_EQ(
      ErrorOf("tests:\n- services:\n  - numa_binding: {memory_policy: BNID}\n"),
      "x.yaml:3:35: memory_policy is \"BNID\"; did you mean \"BIND\"?");
  ExpectReads(
      "tests: [{services: [{numa_binding: {memory_policy: BIND}}]}, "
      "{services: [{numa_binding: {memory_policy: 2}}]}]",
      "tests { services { numa_binding { memory_policy: BIND } } } "
      "tests { services { numa_binding { memory_policy: PREFERRED } } }");
}

TEST(ParseYaml, ListsAllErrors) {
  EXPECT_EQ(ErrorOf("tests:\n- nme: a\n- services: [{count: x}]\n"),
            "x.yaml:2:3: Message type \"distbench.DistributedSystemDescription"
            "\" has no field named \"nme\". Did you mean \"name\"?\n"
            "x.yaml:3:22: count is \"x\"; must be a whole number, in decimal");
}

// ---- What is hostile --------------------------------------------------------

TEST(ParseYaml, ListsABoundedNumberOfErrors) {
  std::string yaml = "tests:\n";
  for (int i = 0; i < 10'000; ++i) yaml += "- nme: a\n";
  EXPECT_LT(ErrorOf(yaml).size(), 20'000);
  // They are not even looked for.
  yaml = "tests:\n-\n";
  for (int i = 0; i < 100'000; ++i) absl::StrAppend(&yaml, "  a", i, ": b\n");
  EXPECT_LT(ErrorOf(yaml).size(), 20'000);
}

TEST(ParseYaml, RefusesALaughAMillionTimes) {
  std::string yaml = "tests:\n- services:\n  - &s0 {name: ha}\n";
  yaml += "- &l0 {services: [*s0, *s0, *s0, *s0, *s0, *s0, *s0, *s0]}\n";
  EXPECT_EQ(Parsed(yaml).tests_size(), 2);
  // Lists of lists do not exist in messages, so that merges have to multiply.
  yaml = "tests:\n- &m0 {name: ha}\n";
  for (int i = 1; i < 12; ++i) {
    std::string names;
    for (int j = 0; j < 10; ++j) absl::StrAppend(&names, "*m", i - 1, ", ");
    absl::StrAppend(&yaml, "- &m", i, " {<<: [", names, "]}\n");
  }
  EXPECT_THAT(ErrorOf(yaml),
              HasSubstr("aliases repeat this and more than 16 MiB in all"));
}

TEST(ParseYaml, RefusesALongTextManyTimes) {
  std::string yaml =
      absl::StrCat("tests:\n- name: &n ", std::string(100'000, 'a'), "\n");
  for (int i = 0; i < 1000; ++i) yaml += "- name: *n\n";
  EXPECT_THAT(ErrorOf(yaml), HasSubstr("aliases repeat this"));
}

TEST(ParseYaml, SurvivesDeepNesting) {
  for (const char* opening : {"[", "{a: ", "- ", "? ", "&a ", "- - [", "'"}) {
    std::string yaml;
    for (int i = 0; i < 100'000; ++i) yaml += opening;
    EXPECT_NE(ErrorOf(yaml), "");
  }
  std::string deep = "tests: ";
  for (int i = 0; i < 200; ++i) deep += "[";
  EXPECT_THAT(ErrorOf(deep), HasSubstr("is nested more than 100 deep"));
}

TEST(ParseYaml, SurvivesALongChainOfMerges) {
  std::string yaml = "tests:\n- &m0 {name: a}\n";
  for (int i = 1; i < 10'000; ++i) {
    absl::StrAppend(&yaml, "- &m", i, " {<<: *m", i - 1, "}\n");
  }
  EXPECT_THAT(ErrorOf(yaml), HasSubstr("merged through too many other maps"));
}

}  // namespace
}  // namespace distbench::config
