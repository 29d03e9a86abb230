// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/rules/type_rules.h"
#include "distbench/config/testing/validation_cases.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/search/strategy/load_search.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using config::ExpectOneProblem;
using config::ProblemsAfter;
using config::ValidationCase;

class BadSearch : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadSearch, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadSearch,
    ::testing::Values(
        ValidationCase{"ObjectiveOfNoRpc", "",
                       "search { objectives: ['cpu<=60%', 'qurey p95<=1s'] }",
                       "search.objectives[1]",
                       "no RPC is named \"qurey\"; did you mean \"query\"?"},
        ValidationCase{"KnobIsNone", "", "search { knob: 'speed' }",
                       "search.knob",
                       "\"speed\" is not a knob; knobs are rate"},
        ValidationCase{"KnobTurnsNothing", "", "search { knob: 'rate' }",
                       "search.knob", "there is no rate to vary"},
        ValidationCase{"KnobOfNoPayload", "", "search { knob: 'payload:smal' }",
                       "search.knob", "did you mean \"small\"?"},
        ValidationCase{"KnobOfADrawnSize", "",
                       "search { knob: 'payload:varied' }", "search.knob",
                       "drawn from a distribution"},
        ValidationCase{"KnobOfAnotherFanout", "",
                       "search { knob: 'fanout:query' }", "search.knob",
                       "stochastic{1:N}"},
        ValidationCase{"KnobOfABuilder", "",
                       "search { knob: 'builder:clique:node_count' }",
                       "search.knob", "distbench search --knob"},
        ValidationCase{"NoLoad", "", "search { min_load: 0 }",
                       "search.min_load", "0 is not a load; must be above 0"},
        ValidationCase{"LoadIsNoNumber", "", "search { max_load: nan }",
                       "search.max_load", "nan is not a load"},
        ValidationCase{"NothingBetween", "",
                       "search { min_load: 5 max_load: 4 }", "search.min_load",
                       "5 is above max_load, 4"},
        ValidationCase{"ToleranceInPercent", "", "search { tolerance: 2 }",
                       "search.tolerance",
                       "2 is out of range; must be from 0.001 to 0.5"},
        ValidationCase{"NoProbes", "", "search { max_probes: 2 }",
                       "search.max_probes", "must be from 3 to 1000"},
        ValidationCase{"NoTime", "", "search { final_duration_us: 0 }",
                       "search.final_duration_us", "0 is out of range"},
        ValidationCase{"RateOfASearch", "iterations { max_duration_us: 9 }",
                       "iterations { rate: 'fast' } }"
                       "search { knob: 'rate'",
                       "actions[\"run\"].iterations.rate",
                       "\"fast\" is not a rate"},
        ValidationCase{"SearchWarmup", "", "search { warmup: '5' }",
                       "search.warmup", "\"5\" is not a duration"},
        ValidationCase{"SearchProbe", "", "search { probe_duration: '0s' }",
                       "search.probe_duration", "is out of range"},
        ValidationCase{"SearchFinalTwice", "",
                       "search { final_duration: '5s' final_duration_us: 1 }",
                       "search",
                       "has both final_duration and "
                       "final_duration_us; give one"}),
    [](const auto& info) { return info.param.rule; });

TEST(SearchLanguageTest, QuantitiesBecomeNumbers) {
  TestSequence sequence = base::FromText<TestSequence>(
      "tests { search {"
      "  warmup: '1s' probe_duration: '5s' final_duration: '1m' } }");
  config::Canonicalize(sequence);
  const auto expected = base::FromText<LoadSearchSpec>(
      "warmup_us: 1000000 probe_duration_us: 5000000 "
      "final_duration_us: 60000000");
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(
      sequence.tests(0).search(), expected))
      << sequence.DebugString();
}

TEST(SearchLanguageTest, MayBeComplete) {
  EXPECT_TRUE(ProblemsAfter("",
                            "search { objectives: 'query p95<=5ms' "
                            "objectives: 'cpu<=60%' knob: 'concurrency' "
                            "min_load: 1 max_load: 64 initial_load: 4 "
                            "tolerance: 0.05 max_probes: 10 warmup_us: 1 "
                            "probe_duration_us: 1000 final_duration_us: 5000 }")
                  .empty());
}

// The flags of the command have the same ranges.
TEST(SearchLanguageTest, RulesOfFieldsAgreeWithConstants) {
  const auto rules = [](const char* field) {
    for (const auto& rule :
         config::RulesOf(LoadSearchSpec::descriptor()).fields) {
      if (rule.field->name() == field) return rule.rules;
    }
    return FieldRules();
  };
  EXPECT_EQ(rules("tolerance").at_least(), kMinSearchTolerance);
  EXPECT_EQ(rules("tolerance").at_most(), kMaxSearchTolerance);
  EXPECT_EQ(rules("max_probes").min(), kMinSearchProbes);
  EXPECT_EQ(rules("max_probes").max(), kMaxSearchProbes);
}

}  // namespace
}  // namespace distbench::search
