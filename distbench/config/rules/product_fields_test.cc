// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Fields of products that a program was built without.

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/rules/field_rules.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kOfProducts[] = R"(
  name: "t"
  services { name: "client" count: 1 }
  services { name: "cache" external { addresses: "cache:1" } }
  services { name: "same" external { addresses: "cache:1" } }
  services { name: "same" }
  rpc_descriptions { name: "get" external_call { method: "/p.Cache/Get" } }
  search { knob: "rate" })";

// The problems with fields of products, of a program that lacks some of these.
std::vector<Problem> ProblemsWithout(const std::vector<std::string>& products) {
  const auto test = base::FromText<DistributedSystemDescription>(kOfProducts);
  Problems problems;
  CheckTest(
      test, Path("tests").At(0), TestNames(test),
      [&](absl::string_view product) {
        return !absl::c_linear_search(products, product);
      },
      problems);
  std::vector<Problem> of_products;
  for (const Problem& problem : std::move(problems).Take()) {
    if (absl::StartsWith(problem.message, "belongs to the product")) {
      of_products.push_back(problem);
    }
  }
  return of_products;
}

TEST(ProductsTest, FieldsOfProductsThatAreThereAreFine) {
  EXPECT_THAT(ProblemsWithout({}), IsEmpty());
  EXPECT_THAT(ProblemsWithout({"protection"}), IsEmpty());
}

TEST(ProductsTest, FieldsOfAMissingProductAreRefusedWhereTheyAre) {
  const std::vector<Problem> problems = ProblemsWithout({"external"});
  EXPECT_THAT(
      problems,
      ElementsAre(
          Field(&Problem::path, "tests[0].services[\"cache\"].external"),
          Field(&Problem::path, "tests[0].services[\"same\"].external"),
          Field(&Problem::path,
                "tests[0].rpc_descriptions[\"get\"].external_call")));
  EXPECT_EQ(problems[0].message,
            "belongs to the product \"external\", which this program was built "
            "without; use a complete build of distbench, or remove it");
}

TEST(ProductsTest, AreNamed) {
  EXPECT_THAT(ProblemsWithout({"search"}),
              ElementsAre(Field(&Problem::message,
                                HasSubstr("the product \"search\""))));
}

}  // namespace
}  // namespace distbench::config
