// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/building/config_string.h"

namespace distbench::test_builder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

TEST(ParseConfigTest, ValuesMayBeAddresses) {
  EXPECT_THAT(Parse("target=dns:///cache:9000:tcp"),
              ElementsAre(IsSetting("target", "dns:///cache:9000"),
                          IsSetting("protocol_driver", "tcp")));
  EXPECT_THAT(
      Parse("target=[::1]:9000:a=b"),
      ElementsAre(IsSetting("target", "[::1]:9000"), IsSetting("a", "b")));
}

TEST(ParseConfigTest, ValuesMayBeJson) {
  EXPECT_THAT(
      Parse(R"(request={"k": "{{random:1:9}}=", "l": ["}:", "\":{"]}:tcp)"),
      ElementsAre(IsSetting("request",
                            R"({"k": "{{random:1:9}}=", "l": ["}:", "\":{"]})"),
                  IsSetting("protocol_driver", "tcp")));
  // Only from the beginning of a value.
  EXPECT_THAT(ErrorOf("clique:a=b{:c}"), HasSubstr("\"c}\""));
  EXPECT_THAT(ErrorOf("clique:a=b{c=d}"), HasSubstr("unless it is JSON"));
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
              HasSubstr("it is a directory"));
  EXPECT_THAT(ErrorOf(absl::StrCat("clique:extra=<", WriteFile("empty", ""))),
              HasSubstr("empty"));
  EXPECT_THAT(ErrorOf(absl::StrCat("clique:extra=<", WriteFile("nl", "\n"))),
              HasSubstr("the value is empty"));
}

const Setting kClique = {"traffic_pattern", "clique"};

std::vector<SettingsVariant> Expand(const std::vector<Setting>& settings) {
  const auto variants = ExpandValueLists(settings);
  EXPECT_TRUE(variants.ok()) << variants.status();
  return variants.value_or(std::vector<SettingsVariant>());
}

TEST(ExpandValueListsTest, WithoutListsThereIsOneVariant) {
  const auto variants = Expand({kClique, {"node_count", "5"}});
  ASSERT_EQ(variants.size(), 1);
  EXPECT_EQ(variants[0].settings.at("node_count"), "5");
  EXPECT_THAT(variants[0].varied, IsEmpty());
}

TEST(ExpandValueListsTest, TheLastListVariesFastest) {
  const auto variants =
      Expand({kClique, {"node_count", "5,6"}, {"request_size", "10,20,30"}});
  std::vector<std::string> points;
  for (const SettingsVariant& variant : variants) {
    points.push_back(variant.settings.at("node_count") + "/" +
                     variant.settings.at("request_size"));
    EXPECT_THAT(variant.varied, ElementsAre("node_count", "request_size"));
  }
  EXPECT_THAT(points,
              ElementsAre("5/10", "5/20", "5/30", "6/10", "6/20", "6/30"));
}

TEST(ExpandValueListsTest, ProtocolsBringTheirOwnParameters) {
  const auto variants = Expand(
      {kClique, {"server_threads", "1,2"}, {"protocol_driver", "homa,grpc"}});
  ASSERT_EQ(variants.size(), 3);
  EXPECT_EQ(variants[1].settings.at("server_threads"), "2");
  EXPECT_THAT(variants[1].varied,
              ElementsAre("protocol_driver", "server_threads"));
  EXPECT_EQ(variants[2].settings.at("protocol_driver"), "grpc");
  EXPECT_EQ(variants[2].settings.at("server_threads"), "1,2");
}

TEST(ExpandValueListsTest, OnlyParametersAreLists) {
  const auto variants = Expand({kClique,
                                {"racks", "a,b"},
                                {"extra_test_contents", "a,b"},
                                {"synchronization_mode", "a,b", true}});
  ASSERT_EQ(variants.size(), 1);
  EXPECT_EQ(variants[0].settings.at("racks"), "a,b");
  EXPECT_EQ(variants[0].settings.at("extra_test_contents"), "a,b");
}

TEST(ExpandValueListsTest, TheLastOfEqualNamesCounts) {
  const auto variants =
      Expand({{"node_count", "5,6"}, kClique, {"node_count", "7"}});
  ASSERT_EQ(variants.size(), 1);
  EXPECT_EQ(variants[0].settings.at("node_count"), "7");
}

TEST(ExpandValueListsTest, ValuesLoseTheirUnits) {
  const auto variants = Expand({kClique,
                                {"rpc_interval_us", "16ms,20ms"},
                                {"request_size", "1KiB"},
                                {"test_duration", "1m"},
                                {"racks", "1KiB"}});
  ASSERT_EQ(variants.size(), 2);
  const ValueMap& settings = variants[1].settings;
  EXPECT_EQ(settings.at("rpc_interval_us"), "20000");
  EXPECT_EQ(settings.at("request_size"), "1024");
  EXPECT_EQ(settings.at("test_duration"), "60");
  EXPECT_EQ(settings.at("racks"), "1KiB");
}

TEST(ExpandValueListsTest, RefusesEmptyValues) {
  for (const char* list : {"5,", ",5", "5,,6", ","}) {
    EXPECT_THAT(std::string(ExpandValueLists({{kClique, {"node_count", list}}})
                                .status()
                                .message()),
                HasSubstr("is empty"))
        << list;
  }
}

TEST(ExpandValueListsTest, RefusesTooManyTests) {
  std::string list = "1";
  for (int i = 2; i <= 101; ++i) list += "," + std::to_string(i);
  EXPECT_THAT(std::string(ExpandValueLists({{kClique,
                                             {"request_size", list},
                                             {"response_size", list}}})
                              .status()
                              .message()),
              HasSubstr("more than 10000 tests"));
}

Vocabulary CliqueWords() {
  return *Vocabulary::For({{"traffic_pattern", "clique"}});
}

TEST(VocabularyTest, HasTheParametersOfPatternProtocolAndEveryTest) {
  const Vocabulary words = CliqueWords();
  EXPECT_NE(words.Find("node_count"), nullptr);
  EXPECT_NE(words.Find("server_type"), nullptr);
  EXPECT_NE(words.Find("test_duration"), nullptr);
  EXPECT_NE(words.Find("protocol_driver"), nullptr);
  EXPECT_EQ(words.Find("leaf_count"), nullptr);
  EXPECT_EQ(words.Find("nocopy"), nullptr);
  EXPECT_EQ(words.protocol().name(), "grpc");
}

TEST(VocabularyTest, FollowsTheProtocol) {
  const auto words = Vocabulary::For(
      {{"traffic_pattern", "clique"}, {"protocol_driver", "homa"}});
  ASSERT_TRUE(words.ok()) << words.status();
  EXPECT_NE(words->Find("nocopy"), nullptr);
  EXPECT_EQ(words->Find("server_type"), nullptr);
}

TEST(VocabularyTest, SaysWhatThereIs) {
  EXPECT_THAT(std::string(Vocabulary::For({}).status().message()),
              HasSubstr("must contain one of client_server, clique"));
  EXPECT_THAT(
      std::string(
          Vocabulary::For({{"traffic_pattern", "cliqe"}}).status().message()),
      HasSubstr("did you mean \"clique\"?"));
  EXPECT_THAT(std::string(Vocabulary::For({{"traffic_pattern", "clique"},
                                           {"protocol_driver", "tpc"}})
                              .status()
                              .message()),
              HasSubstr("there is no protocol \"tpc\""));
}

TEST(VocabularyTest, RecognisesUpToTwoTypingErrors) {
  const Vocabulary words = CliqueWords();
  EXPECT_EQ(words.MeantBy("node_cuont"), "node_count");
  EXPECT_EQ(words.MeantBy("nodecount"), "node_count");
  EXPECT_EQ(words.MeantBy("node_counts"), "node_count");
  EXPECT_EQ(words.MeantBy("nod_countx"), "node_count");
  EXPECT_EQ(words.MeantBy("reqest_sizes"), "request_size");
  EXPECT_EQ(words.MeantBy("root_count"), std::nullopt);  // three
  EXPECT_EQ(words.MeantBy("rack"), std::nullopt);
}

TEST(WhereKnownTest, NamesPatternsAndProtocols) {
  EXPECT_EQ(WhereKnown("fanout_filter"), "rectangular");
  EXPECT_EQ(WhereKnown("nocopy"), "homa");
  EXPECT_EQ(WhereKnown("rack"), "");
}

TEST(IsDerivedTest, KnowsWhatIsNotForTheUserToSet) {
  EXPECT_TRUE(IsDerived("test_name"));
  EXPECT_FALSE(IsDerived("test_duration"));
}

}  // namespace

}  // namespace distbench::test_builder
