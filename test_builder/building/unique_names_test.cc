#include "test_builder/building/unique_names.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::test_builder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

NamedTest MakeTest(const std::string& name, const ValueMap& varied,
                   const std::string& label = "label") {
  NamedTest named;
  named.test.set_name(name);
  (*named.test.mutable_attributes())["config_label"] = label;
  for (const auto& [parameter, value] : varied) {
    (*named.test.mutable_attributes())[parameter] = value;
  }
  named.varied = varied;
  return named;
}

std::vector<std::string> Names(
    const std::vector<DistributedSystemDescription>& tests) {
  std::vector<std::string> names;
  for (const auto& test : tests) names.push_back(test.name());
  return names;
}

TEST(GiveOwnNamesTest, LeavesOwnNamesAlone) {
  Notes notes;
  const auto tests = GiveOwnNames(
      {MakeTest("a", {{"x", "1"}}), MakeTest("b", {{"x", "2"}})}, notes);
  ASSERT_TRUE(tests.ok()) << tests.status();
  EXPECT_THAT(Names(*tests), ElementsAre("a", "b"));
  EXPECT_THAT(notes.all(), IsEmpty());
}

TEST(GiveOwnNamesTest, AppendsWhatTellsTestsApart) {
  Notes notes;
  const auto tests = GiveOwnNames({MakeTest("a", {{"x", "1"}, {"y", "5"}}),
                                   MakeTest("a", {{"x", "2"}, {"y", "5"}}),
                                   MakeTest("b", {{"x", "1"}, {"y", "5"}})},
                                  notes);
  ASSERT_TRUE(tests.ok()) << tests.status();
  EXPECT_THAT(Names(*tests), ElementsAre("a-x_1", "a-x_2", "b"));
  EXPECT_EQ((*tests)[0].attributes().at("test_name"), "a-x_1");
}

TEST(GiveOwnNamesTest, KeepsEqualTestsOnce) {
  Notes notes;
  const auto tests = GiveOwnNames(
      {MakeTest("a", {}, "clique"), MakeTest("a", {}, "clique:grpc")}, notes);
  ASSERT_TRUE(tests.ok()) << tests.status();
  EXPECT_THAT(Names(*tests), ElementsAre("a"));
  EXPECT_THAT(notes.all(),
              ElementsAre("clique:grpc makes the same test as clique; it is "
                          "kept once"));
}

TEST(GiveOwnNamesTest, ExplainsWhatItCanNotTellApart) {
  NamedTest first = MakeTest("a", {}, "clique:rack=1");
  NamedTest second = MakeTest("a", {}, "clique:rack=2");
  (*first.test.mutable_attributes())["rack"] = "1";
  (*second.test.mutable_attributes())["rack"] = "2";
  Notes notes;
  EXPECT_THAT(
      std::string(GiveOwnNames({first, second}, notes).status().message()),
      HasSubstr("clique:rack=1 and clique:rack=2: both tests would be named a, "
                "but they differ in rack"));
}

}  // namespace
}  // namespace distbench::test_builder
