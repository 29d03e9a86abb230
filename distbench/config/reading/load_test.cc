// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/load.h"

#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/reading/config_format.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TestSequence ExampleSequence() {
  TestSequence sequence;
  DistributedSystemDescription& test = *sequence.add_tests();
  test.set_name("größe\n");
  for (int i = 0; i < 20; ++i) {
    (*test.mutable_attributes())["key" + std::to_string(i)] = "value";
  }
  test.add_services()->set_count(3);
  ActionList& list = *test.add_action_lists();
  list.set_name("client");
  (*list.mutable_predicate_probabilities())["p"] = 0.1f;
  return sequence;
}

std::string ErrorOf(const std::string& contents) {
  const auto sequence = ParseTestSequence(contents, "x.config");
  EXPECT_EQ(sequence.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(sequence.status().message());
}

TEST(Load, ReadsTextAndBinaryFiles) {
  const TestSequence sequence = ExampleSequence();
  const std::string path = ::testing::TempDir() + "/sequence";
  for (const std::string& contents :
       {ToText(sequence), sequence.SerializeAsString(),
        "\xef\xbb\xbf" + ToText(sequence), ToYaml(sequence), ToJson(sequence),
        "\xef\xbb\xbf" + ToYaml(sequence)}) {
    std::ofstream(path, std::ios::binary) << contents;
    const auto loaded = LoadTestSequence(path);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_TRUE(MessageDifferencer::Equals(*loaded, sequence));
  }
}

TEST(Load, NamesTheFile) {
  EXPECT_THAT(
      std::string(LoadTestSequence("/nowhere/x.config").status().message()),
      HasSubstr("/nowhere/x.config"));
  const std::string path = ::testing::TempDir() + "/broken";
  std::ofstream(path) << "tests {\n  bad\n}";
  EXPECT_THAT(std::string(LoadTestSequence(path).status().message()),
              StartsWith(path + ":3:1: "));
}

TEST(Parse, RefusesSequencesWithoutTests) {
  EXPECT_EQ(ErrorOf(""),
            "x.config: has no tests; write at least one `tests { ... }`");
  EXPECT_THAT(ErrorOf("# nothing here\n"), HasSubstr("has no tests"));
  EXPECT_THAT(ErrorOf("tests_setting { keep_instance_log: false }"),
              HasSubstr("has no tests"));
}

TEST(Parse, ExplainsWhatIsNoConfig) {
  const std::string binary = ExampleSequence().SerializeAsString();
  EXPECT_THAT(ErrorOf(std::string("\x7f"
                                  "ELF\0\x01",
                                  6)),
              HasSubstr("neither text nor a binary TestSequence"));
  EXPECT_THAT(ErrorOf(binary.substr(0, binary.size() - 3)),
              HasSubstr("neither text nor a binary TestSequence"));
  EXPECT_THAT(ErrorOf(std::string("\x1f\x8b\x08\0", 4)), HasSubstr("gzip"));
  EXPECT_THAT(ErrorOf(std::string("\xff\xfet\0e\0", 6)), HasSubstr("UTF-16"));
}

TEST(Parse, KnowsFormatsByTheirContents) {
  for (const char* text :
       {R"( {"tests": [{"name": "a"}]})", "tests:\n  - name: a\n",
        "---\ntests: [{name: a}]", "tests_setting: {}\ntests:\n- name: a\n",
        "tests: [{name: 'a'}]", "tests:\n{ name: 'a' }",
        "tests:  # mine\n  - name: a\n"}) {
    const auto sequence = ParseTestSequence(text, "standard input");
    ASSERT_TRUE(sequence.ok()) << text << sequence.status();
    EXPECT_EQ(sequence->tests(0).name(), "a");
  }
  EXPECT_THAT(ErrorOf("tests:\n- nme: a\n"), StartsWith("x.config:2:3: "));
  for (const char* text :
       {"tests:\n{ nme: 'a' }", "tests: \r\n\n< nme: 'a' >"}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("Did you mean \"name\"?"));
  }
  EXPECT_THAT(ErrorOf("# example:\ntests { nme: 'a' }"),
              StartsWith("x.config:2:12: "));
}

TEST(Parse, KnowsFormatsByTheirNames) {
  for (const char* name : {"x.yaml", "x.yml", "x.json"}) {
    EXPECT_TRUE(ParseTestSequence("tests: [{name: a}]", name).ok());
    EXPECT_THAT(
        std::string(
            ParseTestSequence("tests { name: 'a' }", name).status().message()),
        StartsWith(absl::StrCat(name,
                                ": is in text format, but its name ends as "
                                "that of YAML or JSON; let it end with "
                                ".config, or mend")));
    EXPECT_THAT(std::string(ParseTestSequence(
                                "tests_setting: {keep_instance_log: 1}", name)
                                .status()
                                .message()),
                HasSubstr(absl::StrCat("\n", name,
                                       ":1:36: keep_instance_log is \"1\"; "
                                       "must be true or false")));
    EXPECT_THAT(std::string(ParseTestSequence("{}", name).status().message()),
                HasSubstr("has no tests; write at least one, as in {tests: "));
    EXPECT_THAT(
        std::string(ParseTestSequence("tests { a", name).status().message()),
        StartsWith(absl::StrCat(name, ":1:")));
  }
}

TEST(Parse, TextsOfAnyMessageMayBeginWithAByteOrderMark) {
  for (const char* text :
       {"tests { name: 'a' }", "tests:\n- name: a\n  attributes: null\n"}) {
    TestSequence read;
    const absl::Status status =
        ParseAnyText(absl::StrCat("\xef\xbb\xbf", text), "x", read);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(read.tests(0).name(), "a");
  }
}

TEST(Parse, RefusesUnknownFieldsInBinary) {
  TestSequence sequence = ExampleSequence();
  auto* services = sequence.mutable_tests(0)->mutable_services(0);
  services->GetReflection()->MutableUnknownFields(services)->AddVarint(999, 1);
  EXPECT_THAT(ErrorOf(sequence.SerializeAsString()),
              HasSubstr("neither text nor a binary"));
}

TEST(ToText, IsStableAndReadsBack) {
  const TestSequence sequence = ExampleSequence();
  TestSequence reversed = sequence;
  auto& attributes = *reversed.mutable_tests(0)->mutable_attributes();
  attributes.clear();
  for (int i = 19; i >= 0; --i) {
    attributes["key" + std::to_string(i)] = "value";
  }
  EXPECT_EQ(ToText(sequence), ToText(reversed));
  EXPECT_THAT(ToText(sequence), AllOf(HasSubstr("name: \"größe\\n\""),
                                      HasSubstr("value: 0.1\n")));
  EXPECT_TRUE(MessageDifferencer::Equals(
      *ParseTestSequence(ToText(sequence), "x"), sequence));
}

DistributedSystemDescription SmallTest() {
  DistributedSystemDescription test;
  test.set_name("test");
  (*test.mutable_attributes())["a"] = "1";
  (*test.mutable_attributes())["b"] = "2";
  return test;
}

TEST(ConfigHashTest, IsTheSameForTheSame) {
  DistributedSystemDescription other;
  (*other.mutable_attributes())["b"] = "2";
  other.set_name("test");
  (*other.mutable_attributes())["a"] = "1";
  EXPECT_EQ(ConfigHash(SmallTest()), ConfigHash(other));
  EXPECT_EQ(ConfigHash(SmallTest()).size(), 16u);
}

TEST(ConfigHashTest, IsTheSameInEveryBuild) {
  EXPECT_EQ(ConfigHash(DistributedSystemDescription()), "cbf29ce484222325");
}

TEST(ConfigHashTest, IsAnotherOneForAnother) {
  DistributedSystemDescription other = SmallTest();
  (*other.mutable_attributes())["a"] = "3";
  EXPECT_NE(ConfigHash(SmallTest()), ConfigHash(other));
}

TEST(ConfigHashTest, TheSeedIsNoPartOfIt) {
  DistributedSystemDescription other = SmallTest();
  other.set_random_seed(5);
  EXPECT_EQ(ConfigHash(SmallTest()), ConfigHash(other));
}

}  // namespace
}  // namespace distbench::config
