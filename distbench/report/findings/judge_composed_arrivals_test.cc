// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Findings on composed arrivals: what was sent is compared with what the seed
// gives.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/time_units.h"
#include "distbench/config/arrivals/arrival_stream.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/report/findings/testing/judge_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kSeed = 11;

class JudgeComposedArrivalsTest : public JudgeTest {
 protected:
  // Half a second into the first interval.
  int64_t StartNs() {
    return Series().intervals(0).index() * base::kNsPerSecond +
           base::kNsPerSecond / 2;
  }

  // Sends the arrivals that the test asks for, each `late_ns` later, and each
  // `times` times.
  void Send(const std::string& arrivals, int64_t late_ns = 0,
            uint64_t seed = kSeed, int64_t times = 1) {
    *Loop().mutable_arrivals() = base::FromText<Arrivals>(arrivals);
    result_.mutable_traffic_config()->set_random_seed(kSeed);
    Log().set_traffic_start_timestamp_ns(StartNs());
    std::vector<int64_t> counts(Series().intervals_size(), 0);
    const config::ArrivalPlan plan = config::CompileArrivals(Loop().arrivals());
    config::ArrivalStream stream(plan, 1e7,
                                 {.seed = config::ArrivalSeed(seed, 0, 0, 0)});
    for (;; stream.Advance()) {
      while (!stream.found()) stream.Search();
      const double second =
          (stream.time_ns() + static_cast<double>(late_ns)) / 1e9 + 0.5;
      if (second >= static_cast<double>(counts.size())) break;
      counts[static_cast<size_t>(second)] += times;
    }
    for (size_t i = 0; i < counts.size(); ++i) {
      Series().mutable_intervals(static_cast<int>(i))->set_offered_count(1);
    }
    SendPerSecond([&](int i) { return counts[i]; });
  }
};

constexpr char kBursts[] =
    "modulations { markov { states { factor: 5 mean_duration_ns: 1000000000 } "
    "states { factor: 0.2 mean_duration_ns: 3000000000 } } }";

TEST_F(JudgeComposedArrivalsTest, ABurstThatWasAskedForIsNoDefect) {
  Send(kBursts);
  ExpectNothing();
}

TEST_F(JudgeComposedArrivalsTest, AFanoutMultipliesThem) {
  Send(kBursts, /*late_ns=*/0, kSeed, /*times=*/3);
  ExpectNothing();
}

TEST_F(JudgeComposedArrivalsTest, ADrawnNumberOfTargetsIsNotCompared) {
  // On average, 2.5: three times as many would be a sixth too many.
  Send(kBursts);
  SendPerSecond([counts = std::vector<RpcInterval>(Series().intervals().begin(),
                                                   Series().intervals().end())](
                    int i) { return counts[i].sent_count() * 5 / 2; });
  ExpectOne(Finding::WARN, "arrivals");
  result_.mutable_traffic_config()
      ->mutable_rpc_descriptions(0)
      ->set_fanout_filter("stochastic{0.5:1,0.5:4}");
  ExpectNothing();
  result_.mutable_traffic_config()
      ->mutable_rpc_descriptions(0)
      ->set_fanout_filter("stochastic{1:2}");
  ExpectOne(Finding::WARN, "arrivals");
}

TEST_F(JudgeComposedArrivalsTest, ALittleLateIsNoDefect) {
  Send(kBursts, /*late_ns=*/5'000'000);
  ExpectNothing();
}

TEST_F(JudgeComposedArrivalsTest, BurstsAtOtherTimesAreADefect) {
  Send(kBursts, /*late_ns=*/0, /*seed=*/kSeed + 1);
  EXPECT_THAT(ExpectOne(Finding::WARN, "arrivals"),
              HasSubstr("query of client/0 should have followed"));
}

TEST_F(JudgeComposedArrivalsTest, ALateBurstIsADefect) {
  Send("modulations { on_off { on_ns: 2000000000 off_ns: 2000000000 } }",
       /*late_ns=*/200'000'000);
  ExpectOne(Finding::WARN, "arrivals");
}

TEST_F(JudgeComposedArrivalsTest, APauseIsADefect) {
  Send("process: 'gamma' coefficient_of_variation: 2");
  ExpectNothing();
  const int64_t sent = Series().intervals(10).sent_count();
  Series().mutable_intervals(10)->set_sent_count(0);
  Series().mutable_intervals(11)->set_sent_count(
      Series().intervals(11).sent_count() + sent);
  ExpectOne(Finding::WARN, "arrivals");
}

TEST_F(JudgeComposedArrivalsTest, WhatEndsEarlyIsComparedUntilThen) {
  Loop().set_max_duration_us(15'000'000);
  Send(kBursts);
  for (int i = 16; i < Series().intervals_size(); ++i) {
    Series().mutable_intervals(i)->clear_sent_count();
    Series().mutable_intervals(i)->clear_offered_count();
  }
  ExpectNothing();
}

TEST_F(JudgeComposedArrivalsTest, DamagedArrivalsAreNotJudged) {
  Send(kBursts);
  Loop().mutable_arrivals()->mutable_modulations(0)->mutable_markov()->Clear();
  ExpectNothing();
}

TEST_F(JudgeComposedArrivalsTest, ATestWithAVaryingRateNeedNotBeSteady) {
  Send(
      "modulations { schedule { segments { duration_ns: 20000000000 factor: 1 "
      "to_factor: 3 } } }");
  for (int i = 0; i < Series().intervals_size(); ++i) {
    *Series().mutable_intervals(i)->mutable_service_time_ns() =
        Repeated(1'000'000 * (i < 8 ? 1 : 3), 100);
  }
  ExpectNothing();
}

}  // namespace
}  // namespace distbench::report
