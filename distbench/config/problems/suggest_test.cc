// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/problems/suggest.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;
using ::testing::SizeIs;

TEST(ClosestName, FindsMisspellings) {
  const std::vector<std::string> names = {"request_payload", "response_payload",
                                          "leaf_query", "root_query"};
  EXPECT_THAT(ClosestName("requst_payload", names),
              Optional(std::string("request_payload")));
  EXPECT_THAT(ClosestName("lead_query", names),
              Optional(std::string("leaf_query")));
  EXPECT_THAT(ClosestName("elaf_query", names),
              Optional(std::string("leaf_query")));
  EXPECT_THAT(ClosestName("ROOT_QUERY", names),
              Optional(std::string("root_query")));
  EXPECT_THAT(ClosestName("rootquery", names),
              Optional(std::string("root_query")));
}

TEST(ClosestName, FindsContinuationsAndAbbreviations) {
  const std::vector<std::string> names = {"foo_rpc", "other"};
  EXPECT_THAT(ClosestName("foo", names), Optional(std::string("foo_rpc")));
  EXPECT_THAT(ClosestName("foo_rpc_of_client", names),
              Optional(std::string("foo_rpc")));
}

TEST(ClosestName, FindsLastWords) {
  EXPECT_THAT(ClosestName("open_loop_rate", {"open_loop_interval_ns", "rate"}),
              Optional(std::string("rate")));
  EXPECT_THAT(ClosestName("duration", {"name", "max_duration"}),
              Optional(std::string("max_duration")));
  EXPECT_EQ(ClosestName("separate", {"rate"}), std::nullopt);
}

TEST(ClosestName, PrefersFewerEditsThenTheEarlierName) {
  EXPECT_THAT(ClosestName("client1", {"client23", "client2", "client3"}),
              Optional(std::string("client2")));
  EXPECT_THAT(ClosestName("foo", {"foobar", "fob"}),
              Optional(std::string("fob")));
}

TEST(ClosestName, SuggestsNothingFarFetched) {
  EXPECT_EQ(ClosestName("apple", {"root_query", "leaf_query"}), std::nullopt);
  EXPECT_EQ(ClosestName("a", {"b"}), std::nullopt);
  EXPECT_EQ(ClosestName("fo", {"foo_rpc"}), std::nullopt);
  EXPECT_EQ(ClosestName("", {"a"}), std::nullopt);
  EXPECT_EQ(ClosestName("a", {}), std::nullopt);
}

TEST(ClosestName, IsCheapWhateverTheInput) {
  const std::vector<std::string> names(100'000, std::string(64, 'x'));
  EXPECT_EQ(ClosestName(std::string(64, 'y'), names), std::nullopt);
  EXPECT_EQ(ClosestName("x", names), std::nullopt);
}

TEST(Suggestion, NamesTheClosestOrTheChoices) {
  EXPECT_EQ(Suggestion("foo", {"foo_rpc", "bar"}), "did you mean \"foo_rpc\"?");
  EXPECT_EQ(Suggestion("zzz", {"foo", "bar"}),
            "must be one of \"foo\", \"bar\"");
  EXPECT_EQ(Suggestion("zzz", {"foo"}), "must be \"foo\"");
  EXPECT_EQ(Suggestion("zzz", {"foo", "bar", "foo"}),
            "must be one of \"foo\", \"bar\"");
  EXPECT_EQ(Suggestion("zzz", {"foo", "foo"}), "must be \"foo\"");
  EXPECT_EQ(Suggestion("zzz", {}), "there are none");
}

TEST(QuotedList, IsBounded) {
  EXPECT_EQ(QuotedList({"a", "b", "c"}, 2), "\"a\", \"b\", ...");
}

TEST(Quoted, StaysOnOneShortLine) {
  EXPECT_EQ(Quoted("a\n\"b"), "\"a\\n\\\"b\"");
  EXPECT_THAT(Quoted(std::string(10'000, 'x')), SizeIs(85));
  EXPECT_THAT(Quoted(std::string(10'000, 'x')), HasSubstr("xxx...\""));
}

}  // namespace
}  // namespace distbench::config
