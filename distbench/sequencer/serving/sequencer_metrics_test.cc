#include "distbench/sequencer/serving/sequencer_metrics.h"

#include <map>
#include <string>

#include "absl/status/status.h"
#include "distbench/base/testing/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class SequencerMetricsTest : public testing::Test {
 protected:
  // Adds a run of one test that ends with this status.
  void EndRun(const absl::Status& status) {
    TestSequence tests;
    tests.add_tests();
    const auto run = book_.Add({.tests = tests, .label = "", .client = "me"});
    ASSERT_TRUE(run.ok()) << run.status();
    (*run)->OnSequenceDone(status);
  }

  // Returns the values of a counter by its only label.
  std::map<std::string, double> Counts(const std::string& name) {
    std::map<std::string, double> counts;
    for (const auto& family :
         SequencerMetrics(registry_, queue_, book_, status_)) {
      if (family.name != name) continue;
      EXPECT_EQ(family.type, prometheus::MetricType::Counter);
      for (const prometheus::ClientMetric& metric : family.metric) {
        counts[metric.label.at(0).value] = metric.counter.value;
      }
    }
    return counts;
  }

  FakeClock clock_;
  NodeRegistry registry_{"1.0"};
  RunQueue queue_;
  RunBook book_{RunLimits(), clock_};
  RunStatus status_;
};

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
}  // namespace distbench
