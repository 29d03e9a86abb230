#include "distbench/config/testing/validation_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

// A further RPC, over a driver that streams.
#define TELL_THAT_STARTS(starts)                                       \
  "default_protocol: 'loopback' action_lists { name: 'tell' } "        \
  "rpc_descriptions { name: 'tell' client: 'client' server: 'server' " \
  "stream { response_starts: '" starts "' } } "

class BadSearch : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadSearch, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadSearch,
    ::testing::Values(
        ValidationCase{"ObjectiveIsNone", "",
                       "search { objectives: 'query p95' }",
                       "search.objectives[0]", "has neither <= nor >="},
        ValidationCase{"ObjectiveOfNoRpc", "",
                       "search { objectives: ['cpu<=60%', 'qurey p95<=1s'] }",
                       "search.objectives[1]",
                       "no RPC is named \"qurey\"; did you mean \"query\"?"},
        ValidationCase{"ObjectiveOfAnyRpc", "",
                       "search { objectives: 'p95<=1s' }",
                       "search.objectives[0]", "must name an RPC"},
        ValidationCase{"MessagesOfNoStream", "",
                       "search { objectives: 'query gap_p99<=1ms' }",
                       "search.objectives[0]", "about the messages of a"},
        ValidationCase{
            "GapsOfAnEcho", "",
            TELL_THAT_STARTS("echo") "objectives: 'tell gap_p99<=1ms'",
            "objectives[0]",
            "an echo has no gaps; limit round_trip_p99 instead"},
        ValidationCase{
            "RoundTripsOfNoEcho", "",
            TELL_THAT_STARTS(
                "on_first_request") "objectives: 'tell round_trip_p50<=1ms'",
            "objectives[0]",
            "only an echo has round trips; limit gap_p50 instead"},
        ValidationCase{"AmplificationWithoutAPolicy", "",
                       "objectives: 'query amplification<=1.2'",
                       "objectives[0]", "give the RPC a `policy`"},
        ValidationCase{"AttemptsWithoutAPolicy", "",
                       "objectives: 'query attempt_p99<=1ms'", "objectives[0]",
                       "give the RPC a `policy`"},
        ValidationCase{"ObjectiveOfAProductThatIsNotThere", "",
                       "objectives: 'isol_p05>=90%'", "objectives[0]",
                       "a product that this program was built without"},
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
                       "search.final_duration_us", "0 is out of range"}),
    [](const auto& info) { return info.param.rule; });

TEST(SearchTest, MayBeComplete) {
  EXPECT_TRUE(ProblemsAfter("",
                            "search { objectives: 'query p95<=5ms' "
                            "objectives: 'cpu<=60%' knob: 'concurrency' "
                            "min_load: 1 max_load: 64 initial_load: 4 "
                            "tolerance: 0.05 max_probes: 10 warmup_us: 1 "
                            "probe_duration_us: 1000 final_duration_us: 5000 }")
                  .empty());
}

}  // namespace
}  // namespace distbench::config
