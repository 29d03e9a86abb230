// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests that the examples of docs/traffic_config.md and in docs/examples do
// what they say, and that every field of the language is in one of them.
//
// An example of the page is a "```proto" block. One that does not begin a test
// is a part of one, and the rest is that of the page's first example, whose
// elements it replaces by name. Lines "# refused: TEXT" mean that checking the
// example reports TEXT.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/testing/used_fields.h"
#include "distbench/config/validate/check.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"

namespace distbench {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kGuide[] = "docs/traffic_config.md";
constexpr const char* kFolders[] = {"docs/examples", "docs/examples/refused"};

struct Example {
  std::string place;
  std::string config;
  std::vector<std::string> refusals;
};

void AddLine(const std::string& line, Example& example) {
  absl::string_view rest = line;
  if (absl::ConsumePrefix(&rest, "# refused: ")) {
    example.refusals.push_back(std::string(rest));
  }
  absl::StrAppend(&example.config, line, "\n");
}

std::vector<Example> ExamplesOfPage() {
  std::ifstream file(kGuide);
  EXPECT_TRUE(file.is_open());
  std::vector<Example> examples;
  bool inside = false;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line == "```proto") {
      inside = true;
      examples.emplace_back().place = absl::StrCat(kGuide, ":", number);
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      AddLine(line, examples.back());
    }
  }
  return examples;
}

std::vector<Example> ExamplesOfFolder(const std::string& folder) {
  std::vector<Example> examples;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".config") continue;
    std::ifstream file(entry.path());
    examples.emplace_back().place = entry.path().string();
    std::string line;
    while (std::getline(file, line)) AddLine(line, examples.back());
  }
  absl::c_sort(examples, [](const Example& a, const Example& b) {
    return a.place < b.place;
  });
  return examples;
}

// Those of the page come first.
std::vector<Example> AllExamples() {
  std::vector<Example> all = ExamplesOfPage();
  for (const char* folder : kFolders) {
    absl::c_move(ExamplesOfFolder(folder), std::back_inserter(all));
  }
  return all;
}

// An example that is a part of a test has no line that begins one.
bool IsPart(const Example& example) {
  return absl::c_none_of(
      absl::StrSplit(example.config, '\n'),
      [](absl::string_view line) { return absl::StartsWith(line, "tests "); });
}

TestSequence ParseExample(const Example& example) {
  auto parsed = config::ParseTestSequence(
      IsPart(example) ? absl::StrCat("tests { ", example.config, "}")
                      : example.config,
      example.place);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? *std::move(parsed) : TestSequence();
}

std::string NameIn(const Message& element) {
  const FieldDescriptor* name =
      element.GetDescriptor()->FindFieldByName("name");
  return name == nullptr ? ""
                         : element.GetReflection()->GetString(element, name);
}

// The part, and what it leaves of the whole test: all but the elements of lists
// whose names the part has, too.
DistributedSystemDescription Completed(const DistributedSystemDescription& part,
                                       DistributedSystemDescription whole) {
  const auto& reflection = *part.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(part, &fields);
  for (const FieldDescriptor* field : fields) {
    if (!field->is_repeated() || field->is_map() ||
        field->message_type() == nullptr) {
      continue;
    }
    std::set<std::string> replaced;
    for (int i = 0; i < reflection.FieldSize(part, field); ++i) {
      replaced.insert(NameIn(reflection.GetRepeatedMessage(part, field, i)));
    }
    for (int i = reflection.FieldSize(whole, field) - 1; i >= 0; --i) {
      const Message& element = reflection.GetRepeatedMessage(whole, field, i);
      if (replaced.count(NameIn(element)) == 0) continue;
      const int last = reflection.FieldSize(whole, field) - 1;
      reflection.SwapElements(&whole, field, i, last);
      reflection.RemoveLast(&whole, field);
    }
  }
  whole.MergeFrom(part);
  return whole;
}

TestSequence CompletedExample(const Example& example, const Example& first) {
  TestSequence sequence = ParseExample(example);
  if (!IsPart(example)) return sequence;
  *sequence.mutable_tests(0) =
      Completed(sequence.tests(0), ParseExample(first).tests(0));
  return sequence;
}

void CheckExample(const Example& example, const Example& first) {
  SCOPED_TRACE(example.place);
  const auto checked =
      config::CheckTestSequence(CompletedExample(example, first));
  // Of a product that is not there, it says nothing.
  if (absl::StrContains(checked.status().message(), "was built without")) {
    return;
  }
  if (!example.refusals.empty()) {
    for (const std::string& refusal : example.refusals) {
      EXPECT_THAT(checked.status().ToString(), HasSubstr(refusal));
    }
    return;
  }
  ASSERT_TRUE(checked.ok()) << checked.status();
  for (const DistributedSystemDescription& test : checked->tests()) {
    // The simulation has nothing outside of a test.
    if (absl::c_any_of(test.rpc_descriptions(), config::CallsOutside)) continue;
    engine::VirtualTimeSystem system(test, engine::VirtualTimeOptions());
    EXPECT_TRUE(system.Run()) << "it does not end";
    EXPECT_THAT(system.overloads(), SizeIs(0));
  }
}

TEST(TrafficConfigPageTest, ExamplesDoAsThePageSays) {
  const std::vector<Example> examples = AllExamples();
  EXPECT_GE(examples.size(), 40);
  ASSERT_FALSE(IsPart(examples.front()));
  for (const Example& example : examples) {
    CheckExample(example, examples.front());
  }
}

TEST(TrafficConfigPageTest, PartsAreCompletedByName) {
  const Example whole = {
      "whole", "tests { services { name: 'a' } services { name: 'b' } }", {}};
  const Example part = {"part", "services { name: 'a' count: 2 }\n", {}};
  const DistributedSystemDescription test =
      CompletedExample(part, whole).tests(0);
  ASSERT_THAT(test.services(), SizeIs(2));
  EXPECT_EQ(test.services(0).name(), "b");
  EXPECT_EQ(test.services(1).count(), 2);
}

// Calls `visit` with every field that messages of this type may contain at any
// depth, except for map entries.
template <typename Visit>
void ForEachField(const Descriptor& type, std::set<const Descriptor*>& seen,
                  Visit visit) {
  if (!seen.insert(&type).second) return;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (!type.options().map_entry()) visit(field);
    if (field.message_type() != nullptr) {
      ForEachField(*field.message_type(), seen, visit);
    }
  }
}

TEST(TrafficConfigPageTest, EveryFieldIsInAnExample) {
  std::set<std::string> shown;
  for (const Example& example : AllExamples()) {
    if (!example.refusals.empty()) continue;
    config::CollectUsedFields(ParseExample(example), shown);
  }
  std::set<const Descriptor*> seen;
  ForEachField(*TestSequence::descriptor(), seen,
               [&](const FieldDescriptor& field) {
                 EXPECT_EQ(shown.count(field.full_name()), 1)
                     << "no example has " << field.full_name();
               });
}

// The guide is to be read from its beginning to its end.
TEST(TrafficConfigPageTest, TheGuideIsShort) {
  std::ifstream file(kGuide);
  const auto words = std::distance(std::istream_iterator<std::string>(file),
                                   std::istream_iterator<std::string>());
  EXPECT_GT(words, 1000);
  EXPECT_LE(words, 4000);
}

}  // namespace
}  // namespace distbench
