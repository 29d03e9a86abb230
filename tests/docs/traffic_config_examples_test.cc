// Tests that the examples of docs/traffic_config.md do what the text says, and
// that its tables list all fields.
//
// An example is a "```proto" block. Lines "# refused: TEXT" at its top mean
// that checking it reports TEXT.

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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
using ::testing::HasSubstr;
using ::testing::SizeIs;

struct Example {
  int line = 0;  // the line where it begins
  std::string config;
  std::vector<std::string> refusals;
};

struct Page {
  std::vector<Example> examples;
  std::string tables;  // all rows
};

Page ReadPage() {
  std::ifstream file("docs/traffic_config.md");
  EXPECT_TRUE(file.is_open());
  Page page;
  bool inside = false;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    absl::string_view rest = line;
    if (line == "```proto") {
      inside = true;
      page.examples.emplace_back().line = number;
    } else if (line == "```") {
      inside = false;
    } else if (inside && absl::ConsumePrefix(&rest, "# refused: ")) {
      page.examples.back().refusals.push_back(std::string(rest));
    } else if (inside) {
      absl::StrAppend(&page.examples.back().config, line, "\n");
    } else if (absl::StartsWith(line, "|")) {
      absl::StrAppend(&page.tables, line, "\n");
    }
  }
  return page;
}

void CheckExample(const Example& example) {
  SCOPED_TRACE(absl::StrCat("docs/traffic_config.md:", example.line));
  auto parsed = config::ParseTestSequence(example.config, "example");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const auto checked = config::CheckTestSequence(*std::move(parsed));
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
  const Page page = ReadPage();
  EXPECT_GE(page.examples.size(), 10);
  for (const Example& example : page.examples) CheckExample(example);
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

TEST(TrafficConfigPageTest, EveryFieldIsInATableAndInAnExample) {
  const Page page = ReadPage();
  std::set<std::string> shown;
  for (const Example& example : page.examples) {
    auto parsed = config::ParseTestSequence(example.config, "example");
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    if (example.refusals.empty()) config::CollectUsedFields(*parsed, shown);
  }
  std::set<const Descriptor*> seen;
  ForEachField(
      *TestSequence::descriptor(), seen, [&](const FieldDescriptor& field) {
        EXPECT_EQ(shown.count(field.full_name()), 1)
            << "no example has " << field.full_name();
        const bool in_a_table =
            absl::StrContains(page.tables, field.name() + "`");
        EXPECT_TRUE(in_a_table) << "no table has " << field.full_name();
      });
}

}  // namespace
}  // namespace distbench
