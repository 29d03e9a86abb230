#include "test_builder/building/value_lists.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::test_builder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

}  // namespace
}  // namespace distbench::test_builder
