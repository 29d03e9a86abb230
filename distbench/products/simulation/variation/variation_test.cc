#include "distbench/products/simulation/variation/variation.h"

#include <set>
#include <string>
#include <vector>

#include "distbench/config/reading/load.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "proto/simulation.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::simulation {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

// A service of 3 leaves that is asked by one root.
TestSequence Config() {
  return *config::ParseTestSequence(
      R"(tests {
           name: "search"
           services { name: "root" count: 1 }
           services { name: "leaf" count: 3 }
           rpc_descriptions { name: "ask" client: "root" server: "leaf" }
           action_lists { name: "root" action_names: "run" }
           action_lists { name: "ask" }
           actions { name: "run" rpc_name: "ask" }
         })",
      "config");
}

std::vector<Variation> Parsed(const std::vector<std::string>& texts) {
  std::vector<Variation> variations;
  for (const std::string& text : texts) {
    variations.push_back(*ParseVariation(text));
  }
  return variations;
}

absl::StatusOr<VariedTests> Vary(const std::vector<std::string>& texts,
                                 const std::string& pattern = "") {
  VariationRequest request;
  request.pattern = pattern;
  if (pattern.empty()) request.tests = Config();
  request.variations = Parsed(texts);
  test_builder::Notes notes;
  return VaryTests(std::move(request), notes);
}

std::string ErrorOfVary(const std::vector<std::string>& texts,
                        const std::string& pattern = "") {
  return std::string(Vary(texts, pattern).status().message());
}

int CountOf(const DistributedSystemDescription& test,
            const std::string& service) {
  for (const ServiceSpec& each : test.services()) {
    if (each.name() == service) return each.count();
  }
  return 0;
}

std::string AttributeOf(const DistributedSystemDescription& test,
                        const std::string& name) {
  const auto found = test.attributes().find(name);
  return found == test.attributes().end() ? "(none)" : found->second;
}

TEST(ParseVariationTest, TakesNameAndValues) {
  const auto variation = ParseVariation("fabric.host.slow_share=0,0.01");
  ASSERT_TRUE(variation.ok());
  EXPECT_EQ(variation->name, "fabric.host.slow_share");
  EXPECT_THAT(variation->values, ElementsAre("0", "0.01"));
}

TEST(ParseVariationTest, RefusesWhatLacksAPart) {
  for (const char* text :
       {"", "leaf_count", "leaf_count=", "=1", "a=1,,2", "a=1,"}) {
    EXPECT_THAT(ParseVariation(text).status().message(),
                HasSubstr("is not NAME=VALUE,VALUE"))
        << text;
  }
  EXPECT_THAT(ParseVariation("a=1,2,1").status().message(),
              HasSubstr("a has the value 1 twice"));
}

TEST(VaryTestsTest, WithoutVariationsLeavesTestsAsTheyAre) {
  const auto points = Vary({});
  ASSERT_TRUE(points.ok()) << points.status();
  ASSERT_EQ(points->sequence.tests_size(), 1);
  EXPECT_EQ(points->fabrics.size(), 1);
  EXPECT_EQ(points->sequence.tests(0).name(), "search");
  EXPECT_THAT(points->sequence.tests(0).attributes(), IsEmpty());
}

TEST(VaryTestsTest, GivesAllCombinationsTheFirstVaryingSlowest) {
  const auto points =
      Vary({"service.leaf=10,20", "fabric.host.slow_share=0,0.01"});
  ASSERT_TRUE(points.ok()) << points.status();
  std::vector<std::pair<int, double>> found;
  std::set<std::string> names;
  for (int i = 0; i < points->sequence.tests_size(); ++i) {
    const DistributedSystemDescription& test = points->sequence.tests(i);
    const SimulatedFabric& fabric = points->fabrics[i];
    found.push_back({CountOf(test, "leaf"), fabric.host().slow_share()});
    names.insert(test.name());
    EXPECT_EQ(AttributeOf(test, "traffic_pattern"), "search");
    EXPECT_EQ(AttributeOf(test, "swept_parameter"),
              "service.leaf,fabric.host.slow_share");
  }
  EXPECT_THAT(found, ElementsAre(Pair(10, 0), Pair(10, 0.01), Pair(20, 0),
                                 Pair(20, 0.01)));
  EXPECT_EQ(names.size(), 4);
  EXPECT_EQ(*names.begin(), "search-leaf_10-slow_share_0");
  EXPECT_EQ(AttributeOf(points->sequence.tests(3), "service.leaf"), "20");
  EXPECT_EQ(AttributeOf(points->sequence.tests(3), "fabric.host.slow_share"),
            "0.01");
}

TEST(VaryTestsTest, SetsFieldsOfTheTestBeforeItIsChecked) {
  const auto points = Vary({"test.rpc_descriptions[ask].deadline=5ms,1s"});
  ASSERT_TRUE(points.ok()) << points.status();
  EXPECT_NE(points->sequence.tests(0).rpc_descriptions(0).SerializeAsString(),
            points->sequence.tests(1).rpc_descriptions(0).SerializeAsString());
}

TEST(VaryTestsTest, BuildsPatterns) {
  const auto points = Vary({"fabric.host.cpus=1,2", "leaf_count=5,7"},
                           "multi_level_rpc:qps=10");
  ASSERT_TRUE(points.ok()) << points.status();
  std::vector<std::pair<int, int>> found;
  for (int i = 0; i < points->sequence.tests_size(); ++i) {
    const DistributedSystemDescription& test = points->sequence.tests(i);
    const SimulatedFabric& fabric = points->fabrics[i];
    found.push_back({CountOf(test, "leaf"), fabric.host().cpus()});
    EXPECT_EQ(AttributeOf(test, "traffic_pattern"), "multi_level_rpc");
    EXPECT_THAT(AttributeOf(test, "swept_parameter"),
                AllOf(HasSubstr("leaf_count"), HasSubstr("fabric.host.cpus")));
  }
  EXPECT_THAT(found, testing::UnorderedElementsAre(Pair(5, 1), Pair(5, 2),
                                                   Pair(7, 1), Pair(7, 2)));
}

TEST(VaryTestsTest, PatternsMayBeListsOfTests) {
  const auto points = Vary({}, "multi_level_rpc:leaf_count=5,7:qps=10");
  ASSERT_TRUE(points.ok()) << points.status();
  EXPECT_EQ(points->sequence.tests_size(), 2);
}

TEST(VaryTestsTest, ErrorsNameTheVariation) {
  EXPECT_THAT(ErrorOfVary({"service.leav=1"}),
              AllOf(HasSubstr("--vary: service.leav=1: "),
                    HasSubstr("no element \"leav\"; did you mean \"leaf\"?")));
  EXPECT_THAT(ErrorOfVary({"fabric.host.cpus=x"}),
              HasSubstr("fabric.host.cpus=x: \"x\" is not a whole number"));
  EXPECT_THAT(ErrorOfVary({"service.leaf=3,0"}),
              AllOf(HasSubstr("with service.leaf=0:"), HasSubstr("count")));
  EXPECT_THAT(ErrorOfVary({"service.leaf=3", "service.leaf=4"}),
              HasSubstr("service.leaf is there twice"));
}

TEST(VaryTestsTest, ParametersNeedAPatternThatHasThem) {
  EXPECT_THAT(ErrorOfVary({"leaf_count=1"}),
              AllOf(HasSubstr("a config has no parameter \"leaf_count\""),
                    HasSubstr("service.NAME")));
  EXPECT_THAT(ErrorOfVary({"leaf_cuont=1"}, "multi_level_rpc"),
              HasSubstr("did you mean \"leaf_count\"?"));
  // test_builder itself would take this for an attribute.
  EXPECT_THAT(ErrorOfVary({"colour=1,2"}, "multi_level_rpc"),
              HasSubstr("multi_level_rpc has no parameter \"colour\""));
}

TEST(VaryTestsTest, SaysWhichPatternAConfigWasMadeOf) {
  VariationRequest request;
  request.tests = Config();
  (*request.tests.mutable_tests(0)->mutable_attributes())["config_label"] =
      "multi_level_rpc:qps=5";
  request.variations = Parsed({"leaf_count=1"});
  test_builder::Notes notes;
  EXPECT_THAT(VaryTests(std::move(request), notes).status().message(),
              HasSubstr("use --pattern='multi_level_rpc:qps=5'"));
}

TEST(VaryTestsTest, VariedCostsNoLongerCountAsMeasured) {
  VariationRequest request;
  request.tests = Config();
  for (const char* driver : {"tcp", "grpc"}) {
    StackCosts& costs = *request.fabric.add_stacks();
    costs.set_driver(driver);
    costs.mutable_client_send()->set_fixed_ns(100);
    costs.mutable_client_send()->set_fixed_error_ns(1);
    costs.set_wakeup_error_ns(2);
    costs.set_source("measured here");
  }
  request.variations = Parsed({"fabric.stacks[tcp].client_send.fixed_ns=100,7",
                               "fabric.stacks[tcp].wakeup_ns=8"});
  test_builder::Notes notes;
  const auto varied = VaryTests(std::move(request), notes);
  ASSERT_TRUE(varied.ok()) << varied.status();
  const StackCosts& tcp = varied->fabrics[1].stacks(0);
  EXPECT_EQ(tcp.source(), "changed by --vary; otherwise measured here");
  EXPECT_FALSE(tcp.client_send().has_fixed_error_ns());
  EXPECT_FALSE(tcp.has_wakeup_error_ns());
  const StackCosts& grpc = varied->fabrics[1].stacks(1);
  EXPECT_EQ(grpc.source(), "measured here");
  EXPECT_EQ(grpc.client_send().fixed_error_ns(), 1);
}

TEST(VaryTestsTest, WhatIsVariedToTheMeasuredValueIsMeasured) {
  VariationRequest request;
  request.tests = Config();
  StackCosts& costs = *request.fabric.add_stacks();
  costs.set_driver("tcp");
  costs.set_wakeup_ns(8);
  costs.set_wakeup_error_ns(2);
  request.variations =
      Parsed({"fabric.stacks[tcp].wakeup_ns=8,9", "fabric.host.cpus=3"});
  test_builder::Notes notes;
  const auto varied = VaryTests(std::move(request), notes);
  ASSERT_TRUE(varied.ok()) << varied.status();
  EXPECT_TRUE(varied->fabrics[0].stacks(0).has_wakeup_error_ns());
  EXPECT_FALSE(varied->fabrics[1].stacks(0).has_wakeup_error_ns());
  EXPECT_EQ(varied->fabrics[1].stacks(0).source(), "changed by --vary");
}

TEST(VaryTestsTest, TooManyCombinationsAreRefused) {
  std::vector<std::string> values;
  for (int i = 0; i < 101; ++i) values.push_back(std::to_string(i + 1));
  VariationRequest request;
  request.tests = Config();
  request.variations = {{"service.leaf", values}, {"service.root", values}};
  test_builder::Notes notes;
  EXPECT_THAT(VaryTests(std::move(request), notes).status().message(),
              HasSubstr("more than 10000 combinations"));
}

}  // namespace
}  // namespace distbench::simulation
