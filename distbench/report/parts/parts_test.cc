// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What reports make of the parts that a product adds.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/plugins.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/html/html.h"
#include "distbench/report/json/json.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/report/parts/placement.h"
#include "distbench/report/parts/text_part.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/report/text/text_summary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Property;
using Json = nlohmann::ordered_json;

// ---- InOrder() --------------------------------------------------------------

struct Word {
  Placement place;
};

const base::Plugin<Word> kLast("last", new Word{{"nothing like that"}});
const base::Plugin<Word> kSecondOfA("after_a_2", new Word{{"a"}});
const base::Plugin<Word> kFirstOfA("after_a_1", new Word{{"a"}});
const base::Plugin<Word> kThirdOfA("after_a_0", new Word{{"a", 1}});
const base::Plugin<Word> kAfterB("after_b", new Word{{"b"}});

std::vector<std::string> Names(const std::vector<std::string>& own) {
  std::vector<std::string> names;
  for (const Placed<Word>& placed : InOrder<Word>(own)) {
    names.push_back(placed.name);
  }
  return names;
}

TEST(InOrderTest, PartsFollowWhatTheyName) {
  EXPECT_THAT(Names({"a", "b", "c"}),
              ElementsAre("a", "after_a_1", "after_a_2", "after_a_0", "b",
                          "after_b", "c", "last"));
}

TEST(InOrderTest, PartsWithoutAPlaceAreNotLost) {
  EXPECT_THAT(Names({}), ElementsAre("after_a_1", "after_a_2", "after_b",
                                     "last", "after_a_0"));
}

// ---- The parts of a product -------------------------------------------------

constexpr char kUser[] = "uses the product";

bool UsesProduct(const TestResult& result) {
  return result.traffic_config().name() == kUser;
}

void AddFinding(const TestResult& result, FindingList& findings) {
  if (UsesProduct(result))
    findings.Add(Finding::WARN, "product", "as such", "");
}

Json KeyOfTest(const TestResult& result, const JsonLimits&) {
  return UsesProduct(result) ? Json("yes") : Json(nullptr);
}

Json KeyOfDocument(const ReportInput& input, const JsonLimits& limits) {
  return {input.runs.size(), input.results.size(), limits.max_part_rows};
}

std::vector<std::string> LinesOfProduct(const TestResult& result) {
  if (!UsesProduct(result)) return {};
  return {"  of the product"};
}

std::vector<std::string> OpeningOfProduct(const TestResult& result) {
  if (!UsesProduct(result)) return {};
  return {"At first"};
}

const base::Plugin<FindingRule> kRule("product", new FindingRule{AddFinding, {"product"}});
const base::Plugin<TestKey> kTestKey("product",
                                     new TestKey{{"connections"}, KeyOfTest});
const base::Plugin<DocumentKey> kDocumentKey("products",
                                             new DocumentKey{{"tests"},
                                                             KeyOfDocument});
const base::Plugin<SummarySection> kSummary(
    "Product",
    new SummarySection{{"Driver counters"}, LinesOfProduct, OpeningOfProduct});
const base::Plugin<PagePart> kPage("product",
                                   new PagePart{
                                       {"findings"},
                                       "  <section id=\"product\"></section>\n",
                                       "addPart({});\n"});

TestResult ResultWithProduct() {
  TestResult result;
  result.mutable_traffic_config()->set_name(kUser);
  return result;
}

TEST(PartsTest, ARuleAddsFindings) {
  const auto is_of_product = Property(&Finding::code, "product");
  EXPECT_THAT(Judge(ResultWithProduct()), Contains(is_of_product));
  EXPECT_THAT(Judge(TestResult()), Not(Contains(is_of_product)));
}

// The names of all keys from this one to the one after the next.
std::vector<std::string> ThreeKeysFrom(const std::string& first,
                                       const Json& json) {
  std::vector<std::string> keys;
  for (auto item = json.find(first); item != json.end() && keys.size() < 3;
       ++item) {
    keys.push_back(item.key());
  }
  return keys;
}

TEST(PartsTest, KeysAreAddedToTheDocumentAndToEachTest) {
  const auto results = Sourced({ResultWithProduct(), TestResult()});
  const Json json =
      Json::parse(RenderJson(InputOf(results), {.max_part_rows = 7}));
  EXPECT_EQ(json["products"], Json({2, 1, 7}));
  EXPECT_EQ(ThreeKeysFrom("tests", json)[1], "products");
  EXPECT_EQ(json["tests"][0]["product"], "yes");
  EXPECT_EQ(json["tests"][1]["product"], nullptr);
  EXPECT_EQ(ThreeKeysFrom("connections", json["tests"][0])[1], "product");
}

TEST(PartsTest, SummariesHaveTheSectionAndWhatNobodyMayOverlook) {
  const std::vector<std::string> lines = SummarizeTest(ResultWithProduct());
  EXPECT_EQ(lines.front(), "At first");
  EXPECT_THAT(absl::StrCat(lines[lines.size() - 2], lines.back()),
              "Product:  of the product");
  EXPECT_THAT(SummarizeTest(TestResult()), Not(Contains("Product:")));
}

TEST(PartsTest, ThePageHasTheSectionAndTheScript) {
  const std::string page = RenderHtml({});
  EXPECT_THAT(page, HasSubstr("id=\"findings-list\"></div></section>\n"
                              "  <section id=\"product\"></section>\n"));
  EXPECT_THAT(page, HasSubstr("\naddPart({});\n"));
}

}  // namespace
}  // namespace distbench::report
