#include "test_builder/building/config_string.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::test_builder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MATCHER_P2(IsSetting, name, value, "") {
  return arg.name == name && arg.value == value;
}

std::vector<Setting> Parse(const std::string& config) {
  const auto settings = ParseConfig(config);
  EXPECT_TRUE(settings.ok()) << settings.status();
  return settings.value_or(std::vector<Setting>());
}

std::string ErrorOf(const std::string& config) {
  return std::string(ParseConfig(config).status().message());
}

std::string WriteFile(const std::string& name, const std::string& contents) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::ofstream(path) << contents;
  return path;
}

TEST(ParseConfigTest, BareWordsAreSettings) {
  EXPECT_THAT(
      Parse("clique:grpc:ipv4:node_count=5"),
      ElementsAre(IsSetting("traffic_pattern", "clique"),
                  IsSetting("protocol_driver", "grpc"),
                  IsSetting("ip_version", "4"), IsSetting("node_count", "5")));
  EXPECT_THAT(Parse("ipv6"), ElementsAre(IsSetting("ip_version", "6")));
}

TEST(ParseConfigTest, ValuesGoOnAfterAColonAndADigit) {
  EXPECT_THAT(Parse("clique:arrivals=gamma:3+sine:1m:0.5:tcp:node_count=4"),
              ElementsAre(IsSetting("traffic_pattern", "clique"),
                          IsSetting("arrivals", "gamma:3+sine:1m:0.5"),
                          IsSetting("protocol_driver", "tcp"),
                          IsSetting("node_count", "4")));
  EXPECT_THAT(ErrorOf("clique:3"), HasSubstr("\"3\""));
  EXPECT_THAT(ErrorOf("clique:a=b:3=4"), HasSubstr("name before '='"));
}

TEST(ParseConfigTest, BracesAreLists) {
  EXPECT_THAT(Parse("clique:{grpc,tcp}:{ipv4,ipv6}"),
              ElementsAre(IsSetting("traffic_pattern", "clique"),
                          IsSetting("protocol_driver", "grpc,tcp"),
                          IsSetting("ip_version", "4,6")));
  EXPECT_THAT(Parse("{tcp}"), ElementsAre(IsSetting("protocol_driver", "tcp")));
  EXPECT_THAT(ErrorOf("clique:{grpc,tpc}"), HasSubstr("did you mean \"tcp\"?"));
  EXPECT_THAT(ErrorOf("clique:{grpc,tcp"), HasSubstr("has no '}'"));
  EXPECT_THAT(ErrorOf("clique:{"), HasSubstr("has no '}'"));
  EXPECT_THAT(ErrorOf("clique:{grpc,ipv4}"),
              HasSubstr("braces hold either protocols, or ipv4 and ipv6"));
  EXPECT_THAT(ErrorOf("{clique,client_server}"),
              HasSubstr("separate patterns by blanks"));
}

TEST(ParseConfigTest, AnUnknownWordIsExplained) {
  EXPECT_THAT(ErrorOf("clique:grcp"), HasSubstr("did you mean \"grpc\"?"));
  EXPECT_THAT(ErrorOf("klique"), HasSubstr("did you mean \"clique\"?"));
  EXPECT_THAT(ErrorOf("clique::grpc"), HasSubstr("\"\": neither"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("neither KEY=VALUE nor a pattern"));
}

TEST(ParseConfigTest, RefusesEmptyValuesAndEqualsSigns) {
  EXPECT_THAT(ErrorOf("clique:node_count="), HasSubstr("the value is empty"));
  EXPECT_THAT(ErrorOf("clique:a=b=c"), HasSubstr("cannot contain '='"));
  EXPECT_THAT(ErrorOf("clique:=5"), HasSubstr("the name before '='"));
  EXPECT_THAT(ErrorOf("clique:5x=5"), HasSubstr("the name before '='"));
  EXPECT_THAT(ErrorOf("clique:a b=5"), HasSubstr("the name before '='"));
}

TEST(ParseConfigTest, ListsEveryProblem) {
  const std::string error = ErrorOf("clique:foo:a=:b=1");
  EXPECT_THAT(error, HasSubstr("\"foo\""));
  EXPECT_THAT(error, HasSubstr("\n\"a=\""));
}

TEST(ParseConfigTest, OnePatternOnly) {
  EXPECT_THAT(ErrorOf("clique:tripartite"),
              HasSubstr("two patterns, clique and tripartite"));
  EXPECT_EQ(Parse("clique:clique").size(), 2);
}

TEST(ParseConfigTest, ReadsValuesFromFiles) {
  const std::string path = WriteFile("value", "a: 'x=y:z,1'\nb\n\n");
  const std::vector<Setting> settings =
      Parse(absl::StrCat("clique:extra=<", path));
  ASSERT_EQ(settings.size(), 2);
  EXPECT_EQ(settings[1].value, "a: 'x=y:z,1'\nb");
  EXPECT_TRUE(settings[1].from_file);
  EXPECT_FALSE(settings[0].from_file);
}

TEST(ParseConfigTest, SaysWhyAFileCanNotBeRead) {
  EXPECT_THAT(ErrorOf("clique:extra=<no/such/file"),
              HasSubstr("cannot read no/such/file: No such file"));
  EXPECT_THAT(ErrorOf(absl::StrCat("clique:extra=<", testing::TempDir())),
              HasSubstr("Is a directory"));
  EXPECT_THAT(ErrorOf(absl::StrCat("clique:extra=<", WriteFile("empty", ""))),
              HasSubstr("empty"));
  EXPECT_THAT(ErrorOf(absl::StrCat("clique:extra=<", WriteFile("nl", "\n"))),
              HasSubstr("the value is empty"));
}

}  // namespace
}  // namespace distbench::test_builder
