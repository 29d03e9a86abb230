// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

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

class BadObjective : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadObjective, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadObjective,
    ::testing::Values(
        ValidationCase{"ObjectiveIsNone", "", "objectives: 'query p95'",
                       "objectives[0]", "has neither <= nor >="},
        ValidationCase{"ObjectiveOfNoRpc", "",
                       "objectives: ['cpu<=60%', 'qurey p95<=1s']",
                       "objectives[1]",
                       "no RPC is named \"qurey\"; did you mean \"query\"?"},
        ValidationCase{"ObjectiveOfAnyRpc", "", "objectives: 'p95<=1s'",
                       "objectives[0]", "must name an RPC"},
        ValidationCase{"MessagesOfNoStream", "",
                       "objectives: 'query gap_p99<=1ms'", "objectives[0]",
                       "about the messages of a"},
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
                       "a product that this program was built without"}),
    [](const auto& info) { return info.param.rule; });

}  // namespace
}  // namespace distbench::config
