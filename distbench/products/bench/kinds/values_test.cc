// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/kinds/values.h"

#include <cmath>

#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::HasSubstr;

TEST(ValuesTest, ValuesAreWrittenWithTheirUnits) {
  BenchValues values;
  AddNumber("rate", 1029, values);
  AddNumber("size", 1 << 20, values, "bytes");
  AddNumber("limit", 0.075, values, "s");
  AddText("device", "259:0", values);
  AddText("verdict", "not met", values);
  EXPECT_EQ(ValuesText(values),
            "rate=1029 size=1.0M limit=0.075s device=259:0 "
            "verdict=\"not met\"");
}

TEST(ValuesTest, TheNearestDoneJobCounts) {
  BenchJob failed;
  failed.set_kind("search");
  failed.set_state(BenchJob::FAILED);
  BenchJob other;
  other.set_kind("run");
  other.set_state(BenchJob::DONE);
  BenchJob near;
  near.set_kind("search");
  near.set_state(BenchJob::DONE);
  BenchJob far = near;
  const std::vector<const BenchJob*> earlier = {&failed, &other, &near, &far};
  EXPECT_EQ(NearestOf("search", earlier), &near);
  EXPECT_EQ(NearestOf("numa", earlier), nullptr);
}

TEST(ValuesTest, IoCostSurvives) {
  IoCostSettings settings;
  settings.set_device("259:0");
  settings.mutable_model()->set_rbps(1348822120);
  settings.mutable_model()->set_wrandiops(69308);
  settings.mutable_qos()->set_wlat(65667);
  settings.mutable_qos()->set_min(62.55);
  BenchValues values;
  AddIoCost(settings, values);
  const IoCostSettings read = IoCostFrom(values);
  EXPECT_EQ(read.device(), "259:0");
  EXPECT_TRUE(read.enable());
  EXPECT_EQ(read.model().rbps(), 1348822120);
  EXPECT_EQ(read.model().wrandiops(), 69308);
  EXPECT_EQ(read.qos().wlat(), 65667);
  EXPECT_EQ(read.qos().min(), 62.55);
}

TEST(ValuesTest, WhatWasNotFoundStaysAbsent) {
  StorageSizes sizes;
  sizes.hash_bytes = 4096;
  BenchValues values;
  AddStorageSizes(sizes, values);
  const StorageSizes read = StorageSizesFrom(values);
  EXPECT_EQ(read.hash_bytes, 4096);
  EXPECT_FALSE(read.max_rate.has_value());
  EXPECT_FALSE(read.is_complete());
}

SizingOptions Options() {
  SizingOptions options;
  options.small_footprint_bytes = 1 << 20;
  options.likely_footprint_bytes = 1 << 24;
  options.max_footprint_bytes = int64_t{1} << 34;
  return options;
}

// A service whose requests are the further from their limit, the smaller the
// load of a search is; each search has its limit.
search::Probe Measure(const SizingProbe& probe) {
  const double limits[] = {3e5, 8, 700, 5e8};
  search::Probe outcome;
  outcome.request = probe.request;
  outcome.achieved_load = probe.request.load;
  outcome.excess =
      std::log(probe.request.load / limits[static_cast<int>(probe.phase)]);
  outcome.excess_error = 0.001;
  return outcome;
}

// Runs probes until the sizing is done, or there are `most` of them.
void RunProbes(StorageSizing& sizing, TestSequenceResults& results, int most) {
  for (int i = 0; i < most; ++i) {
    const std::optional<SizingProbe> probe = sizing.Next();
    if (!probe.has_value()) return;
    const search::Probe outcome = Measure(*probe);
    sizing.Add(outcome);
    AddProbeRecord(*probe, outcome, results);
  }
}

TEST(SizingRecordsTest, ASizingContinuesWhereItWasCutShort) {
  StorageSizing whole(Options());
  TestSequenceResults all;
  RunProbes(whole, all, 1000);
  ASSERT_TRUE(whole.result().is_complete());

  for (const int cut : {0, 1, 7, 20}) {
    TestSequenceResults results;
    {
      StorageSizing first(Options());
      RunProbes(first, results, cut);
    }
    StorageSizing second(Options());
    ASSERT_TRUE(Replay(results, second).ok());
    RunProbes(second, results, 1000);
    EXPECT_EQ(Describe(second.result()), Describe(whole.result()));
    EXPECT_EQ(results.SerializeAsString(), all.SerializeAsString());
  }
}

// Its three probes are not enough for any answer.
TEST(SizingRecordsTest, WhatFoundNoAnswerBeginsAgain) {
  SizingOptions options = Options();
  options.max_probes = 3;
  TestSequenceResults results;
  {
    StorageSizing sizing(options);
    RunProbes(sizing, results, 1000);
    ASSERT_FALSE(sizing.result().is_complete());
  }
  ASSERT_TRUE(TryAgain(options, results).ok());
  ASSERT_EQ(results.searches_size(), 1);
  EXPECT_EQ(results.searches(0).earlier_attempts(0).probes_size(), 3);
  EXPECT_EQ(results.searches(0).earlier_attempts(0).verdict(),
            "budget_exhausted");
  StorageSizing again(options);
  ASSERT_TRUE(Replay(results, again).ok());
  EXPECT_TRUE(again.Next().has_value());
  // What goes on is left alone.
  RunProbes(again, results, 2);
  ASSERT_TRUE(TryAgain(options, results).ok());
  EXPECT_EQ(results.searches(0).earlier_attempts_size(), 1);
}

TEST(SizingRecordsTest, ARecordSurvives) {
  StorageSizing whole(Options());
  TestSequenceResults results;
  RunProbes(whole, results, 1000);
  StorageSizing replayed(Options());
  ASSERT_TRUE(Replay(results, replayed).ok());
  EXPECT_EQ(Describe(replayed.result()), Describe(whole.result()));
  EXPECT_FALSE(replayed.Next().has_value());
}

TEST(SizingRecordsTest, RecordsOfOtherOptionsAreRefused) {
  StorageSizing whole(Options());
  TestSequenceResults results;
  RunProbes(whole, results, 1000);
  SizingOptions others = Options();
  others.small_footprint_bytes *= 2;
  others.tolerance = 0.2;
  StorageSizing other(others);
  EXPECT_THAT(base::Message(Replay(results, other)),
              HasSubstr("is not what is asked for in its place"));
  results.mutable_searches(0)->mutable_probes(0)->set_phase("nonsense");
  StorageSizing same(Options());
  EXPECT_FALSE(Replay(results, same).ok());
}

TEST(SizingRecordsTest, OptionsSurvive) {
  BenchValues values;
  AddSizingOptions(Options(), values);
  const auto options = SizingOptionsFrom(values);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->likely_footprint_bytes, Options().likely_footprint_bytes);
  EXPECT_EQ(options->limit_seconds, Options().limit_seconds);
  EXPECT_EQ(options->max_probes, Options().max_probes);
}

TEST(SizingRecordsTest, MissingOrWildOptionsAreErrors) {
  EXPECT_THAT(base::Message(SizingOptionsFrom({}).status()),
              HasSubstr("is missing"));
  BenchValues values;
  AddSizingOptions(Options(), values);
  values[0].set_number(NAN);
  EXPECT_FALSE(SizingOptionsFrom(values).ok());
  values[0].set_number(1e300);
  EXPECT_FALSE(SizingOptionsFrom(values).ok());
}

}  // namespace
}  // namespace distbench::bench
