// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Arrival processes: their canonical form, and what iterations must have with
// them. check_arrivals.h has the checks of the process itself.

#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::HasSubstr;

TestSequence SequenceWith(const std::string& iterations) {
  return base::FromText<TestSequence>(absl::StrCat(
      R"pb(
        tests {
          services { name: "client" count: 1 }
          services { name: "server" count: 1 }
          rpc_descriptions { name: "query" client: "client" server: "server" }
          action_lists { name: "client" action_names: "run" }
          action_lists { name: "query" }
          actions { name: "run" rpc_name: "query" iterations {)pb",
      iterations, " } } }"));
}

Iterations Canonical(const std::string& iterations) {
  const auto checked = CheckTestSequence(SequenceWith(iterations));
  EXPECT_TRUE(checked.ok()) << checked.status();
  return checked.ok() ? checked->tests(0).actions(0).iterations()
                      : Iterations();
}

std::string ErrorOf(const std::string& iterations) {
  return std::string(
      CheckTestSequence(SequenceWith(iterations)).status().message());
}

TEST(ArrivalsValidationTest, TimesBecomeNumbers) {
  const Iterations iterations = Canonical(
      "rate: '10/s' arrivals { superposed { modulations { sine { period: '1m' "
      "} } modulations { on_off { on: '1s' off: '9s' } } } superposed { "
      "modulations { schedule { segments { duration: '2s' } } } modulations { "
      "markov { states { mean_duration: '3s' } states { mean_duration: '4s' } "
      "} } } }");
  const Arrivals& arrivals = iterations.arrivals();
  const Arrivals& first = arrivals.superposed(0);
  EXPECT_EQ(first.modulations(0).sine().period_ns(), 60'000'000'000);
  EXPECT_EQ(first.modulations(1).on_off().on_ns(), 1'000'000'000);
  EXPECT_EQ(first.modulations(1).on_off().off_ns(), 9'000'000'000);
  const Arrivals& second = arrivals.superposed(1);
  EXPECT_EQ(second.modulations(0).schedule().segments(0).duration_ns(),
            2'000'000'000);
  EXPECT_EQ(second.modulations(1).markov().states(1).mean_duration_ns(),
            4'000'000'000);
}

TEST(ArrivalsValidationTest, ARecordingHasARateOfItsOwn) {
  const std::string recorded =
      "process: 'recorded' recorded { times: "
      "'1\\n1.5\\n4\\n' ";
  EXPECT_EQ(Canonical("arrivals { " + recorded + "} }").open_loop_interval_ns(),
            1'500'000'000);
  EXPECT_EQ(Canonical("arrivals { kept_share: 0.1 " + recorded + "} }")
                .open_loop_interval_ns(),
            15'000'000'000);
  EXPECT_FALSE(
      Canonical("arrivals { " + recorded + "} }").has_max_iteration_count());
  const Iterations once =
      Canonical("rate: '1/s' arrivals { " + recorded + "repeat: false } }");
  EXPECT_EQ(once.open_loop_interval_ns(), 1'000'000'000);
  EXPECT_EQ(once.max_iteration_count(), 3);
}

TEST(ArrivalsValidationTest, ErrorsNamePlaceProblemAndRemedy) {
  EXPECT_THAT(ErrorOf("arrivals {}"),
              HasSubstr("iterations.arrivals: needs a rate; add one, such as"));
  EXPECT_THAT(ErrorOf("rate: '1/s' open_loop_interval_distribution: 'constant' "
                      "arrivals {}"),
              HasSubstr("has both arrivals and "
                        "open_loop_interval_distribution; give one"));
  EXPECT_THAT(ErrorOf("rate: '1/s' arrivals { modulations { sine { period: "
                      "'1' } } }"),
              HasSubstr("arrivals.modulations[0].sine.period: \"1\" is not"));
  EXPECT_THAT(ErrorOf("rate: '1/s' arrivals { superposed { modulations { "
                      "on_off { on: '1ns' off: '1s' off_ns: 5000 } } } }"),
              HasSubstr("arrivals.superposed[0].modulations[0].on_off"));
  EXPECT_THAT(ErrorOf("rate: '1/s' arrivals { process: 'gamma' }"),
              HasSubstr("tests[0].actions[\"run\"].iterations.arrivals."
                        "coefficient_of_variation: is missing"));
}

}  // namespace
}  // namespace distbench::config
