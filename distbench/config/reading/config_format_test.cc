// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/config_format.h"

#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/config/reading/parse.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;

TestSequence Example() {
  TestSequence sequence;
  DistributedSystemDescription& test = *sequence.add_tests();
  test.set_name("größe\n");
  (*test.mutable_attributes())["b"] = "0.10";
  (*test.mutable_attributes())["a"] = "it's";
  test.set_sample_memory_bytes(int64_t{1} << 60);
  test.add_services()->set_name("client");
  test.add_services()->set_count(3);
  ActionList& list = *test.add_action_lists();
  list.add_action_names("run");
  (*list.mutable_predicate_probabilities())["p"] = 0.1f;
  Action& action = *test.add_actions();
  action.mutable_iterations()
      ->mutable_arrivals()
      ->mutable_recorded()
      ->set_times("0\n\xff");
  action.mutable_iterations()->mutable_arrivals()->add_superposed();
  sequence.mutable_tests_setting()->set_keep_instance_log(false);
  return sequence;
}

TEST(ToYaml, HasAFieldALine) {
  EXPECT_EQ(ToYaml(Example()), R"(tests:
- name: "größe\n"
  services:
  - name: client
  - count: 3
  actions:
  - iterations:
      arrivals:
        recorded:
          times: MAr/
        superposed:
        - {}
  action_lists:
  - action_names:
    - run
    predicate_probabilities:
      p: 0.1
  attributes:
    a: "it's"
    b: "0.10"
  sample_memory_bytes: 1152921504606846976
tests_setting:
  keep_instance_log: false
)");
}

TEST(ToJson, IsWhatProtobufReads) {
  const std::string json = ToJson(Example());
  EXPECT_THAT(json,
              HasSubstr("\"sample_memory_bytes\": \"1152921504606846976\""));
  TestSequence by_protobuf;
  ASSERT_TRUE(
      google::protobuf::util::JsonStringToMessage(json, &by_protobuf).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(Example(), by_protobuf));
}

void ExpectReadBack(const TestSequence& sequence) {
  std::string by_protobuf;
  ASSERT_TRUE(
      google::protobuf::util::MessageToJsonString(sequence, &by_protobuf).ok());
  for (const std::string& text :
       {ToYaml(sequence), ToJson(sequence), by_protobuf}) {
    TestSequence read;
    const absl::Status status = ParseYaml(text, "x", read);
    ASSERT_TRUE(status.ok()) << status << text;
    EXPECT_TRUE(MessageDifferencer::Equals(read, sequence)) << text;
  }
}

TEST(ToYaml, IsReadBack) {
  ExpectReadBack(Example());
  ExpectReadBack(TestSequence());
}

TEST(ToYaml, TextsStayTexts) {
  for (const char* text : {"",
                           " ",
                           "a ",
                           " a",
                           "~",
                           "null",
                           "No",
                           "TRUE",
                           "y",
                           "1",
                           "1e3",
                           "1_0",
                           "0x1F",
                           "12:30:45",
                           "2001-01-01",
                           "2026-11-27 15:00:00",
                           ".5",
                           ".inf",
                           "-1",
                           "+1",
                           "a: b",
                           "a:",
                           "a #b",
                           "#",
                           "a,b",
                           "[a]",
                           "{a}",
                           "*a",
                           "&a",
                           "!a",
                           "|",
                           ">",
                           "%",
                           "@",
                           "`",
                           "'",
                           "\"",
                           "\\",
                           "a\\b",
                           "- a",
                           "-",
                           "--- a",
                           "? a",
                           "<<",
                           "=",
                           "a\tb",
                           "\t",
                           "a\r\nb",
                           "\x7f",
                           "\xc2\x85",
                           "\xe2\x80\xa8",
                           "\xf0\x9f\x98\x80",
                           "200/s",
                           "p99<=20ms",
                           "1h30m",
                           "a  b",
                           "a\n\n b\n",
                           "linear_y{-2}",
                           "/a/b",
                           "_a"}) {
    TestSequence sequence;
    sequence.add_tests()->set_name(text);
    (*sequence.mutable_tests(0)->mutable_attributes())[text] = text;
    ExpectReadBack(sequence);
  }
}

// This reader has no dates, but others would make them of plain texts.
TEST(ToYaml, DatesAndTimesAreQuoted) {
  for (const char* text :
       {"2026-11-27", "2026-11-27 15:00:00", "2026-11-27T15:00:00.5Z",
        "2026-11-27 15:00:00 +01:00", "15:00:00"}) {
    TestSequence sequence;
    sequence.add_tests()->set_name(text);
    EXPECT_EQ(ToYaml(sequence),
              absl::StrCat("tests:\n- name: \"", text, "\"\n"));
  }
}

TEST(ToYaml, NumbersStayNumbers) {
  for (const float number :
       {0.0f, -0.0f, 0.1f, 1e-40f, 3.4e38f, 16777217.0f,
        std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::max(), std::numeric_limits<float>::min()}) {
    TestSequence sequence;
    (*sequence.add_tests()
          ->add_action_lists()
          ->mutable_predicate_probabilities())["p"] = number;
    ExpectReadBack(sequence);
  }
  for (const int64_t number : {std::numeric_limits<int64_t>::min(), int64_t{-1},
                               std::numeric_limits<int64_t>::max()}) {
    TestSequence sequence;
    sequence.add_tests()->set_sample_memory_bytes(number);
    ExpectReadBack(sequence);
  }
}

}  // namespace
}  // namespace distbench::config
