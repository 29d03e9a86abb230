#include "distbench/products/bench/kinds/sizing_records.h"

#include <cmath>

#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::HasSubstr;

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
              HasSubstr("does not continue the search"));
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
