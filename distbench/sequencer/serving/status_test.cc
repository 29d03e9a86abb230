// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/serving/status.h"

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "distbench/base/testing/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class SequencerMetricsTest : public testing::Test {
 protected:
  // Adds a run of one test that ends with this status, and waits until it is
  // stored: only then has it ended for others.
  void EndRun(const absl::Status& status) {
    TestSequence tests;
    tests.add_tests();
    const auto run = book_.Add({.tests = tests, .label = "", .client = "me"});
    ASSERT_TRUE(run.ok()) << run.status();
    (*run)->OnSequenceDone(status);
    EXPECT_TRUE(book_.AwaitStored(absl::Minutes(1)));
  }

  // Returns the values of a counter by its only label, or "".
  std::map<std::string, double> Counts(const std::string& name) {
    std::map<std::string, double> counts;
    for (const auto& family :
         SequencerMetrics(registry_, queue_, book_, status_, outcomes_)) {
      if (family.name != name) continue;
      EXPECT_EQ(family.type, prometheus::MetricType::Counter);
      for (const prometheus::ClientMetric& metric : family.metric) {
        counts[metric.label.empty() ? "" : metric.label.front().value] =
            metric.counter.value;
      }
    }
    return counts;
  }

  base::FakeClock clock_;
  NodeRegistry registry_;
  RunQueue queue_;
  RunBook book_{RunLimits(), clock_};
  RunStatus status_;
  TestOutcomes outcomes_;
};

TEST_F(SequencerMetricsTest, CountersGoOnWithTheNextTest) {
  constexpr char kName[] = "distbench_rpcs_succeeded_total";
  const auto progress = [&](int64_t count) {
    TrafficProgress progress;
    progress.set_succeeded_count(count);
    status_.SetProgress(progress);
  };
  EXPECT_THAT(Counts(kName), ElementsAre(Pair("", 0)));
  status_.Set(RunStatus::RunningTest());
  progress(100);
  progress(300);
  EXPECT_THAT(Counts(kName), ElementsAre(Pair("", 300)));
  status_.Set(RunStatus::RunningTest());
  EXPECT_THAT(Counts(kName), ElementsAre(Pair("", 300)));
  progress(50);
  EXPECT_THAT(Counts(kName), ElementsAre(Pair("", 350)));
  status_.Set(std::nullopt);
  EXPECT_THAT(Counts(kName), ElementsAre(Pair("", 350)));
}

TEST_F(SequencerMetricsTest, TellHowRunsEnded) {
  constexpr char kName[] = "distbench_runs_ended_total";
  EXPECT_THAT(Counts(kName),
              ElementsAre(Pair("cancelled", 0), Pair("done", 0),
                          Pair("failed", 0), Pair("interrupted", 0)));
  EndRun(absl::OkStatus());
  EndRun(absl::OkStatus());
  EndRun(absl::FailedPreconditionError("no nodes"));
  EXPECT_THAT(Counts(kName),
              ElementsAre(Pair("cancelled", 0), Pair("done", 2),
                          Pair("failed", 1), Pair("interrupted", 0)));
}

}  // namespace
}  // namespace distbench::sequencer
