// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Searches for what keeps a service's isolation, on systems of known isolation.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/time_units.h"
#include "distbench/products/search/search_run.h"
#include "distbench/products/search/testing/simulated_queue.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using search::Knob;
using search::MeasuresIsolation;
using search::PlanSearch;
using search::ProbeTiming;
using search::ProgressWatcher;
using search::RunLoadSearch;
using search::SearchCallbacks;
using search::SearchPlan;
using ::testing::HasSubstr;

constexpr int64_t kStartSecond = 1000;
constexpr int64_t kBaselineSeconds = 10;  // the end of the warm-up
constexpr int64_t kStabiliseSeconds = 1;  // its beginning
constexpr int kServedPerSecond = 10'000;

DistributedSystemDescription MakeTest(const std::string& search) {
  DistributedSystemDescription test = search::SimulatedTest(10'000'000);
  test.MergeFrom(base::FromText<DistributedSystemDescription>(absl::StrCat(
      R"(activity_configs {
           name: "burn"
           activity_settings { name: "activity_func" string_value: "ConsumeCpu" }
         }
         experiment {
           subject { rpc: "query" }
           antagonists { name: "hog" activity: "burn" }
           controls {
             name: "on"
             groups { services: "server" cpu_weight: 100 }
           }
         }
         search { warmup_us: 11000000 probe_duration_us: 60000000
                  final_duration_us: 120000000 )",
      search, "}")));
  return test;
}

// Probes that are the same test, with an antagonist that comes after the
// baseline.
class FakeCells final : public Knob {
 public:
  explicit FakeCells(std::unique_ptr<Knob> knob) : knob_(std::move(knob)) {}

  absl::string_view unit() const override { return knob_->unit(); }
  double base_load() const override { return knob_->base_load(); }
  double max_load() const override { return knob_->max_load(); }
  bool finds_lowest() const override { return knob_->finds_lowest(); }
  absl::StatusOr<DistributedSystemDescription> At(
      double load, const ProbeTiming& timing) const override {
    return knob_->At(load, timing);
  }
  void Label(const ProbeTiming& timing, TestResult& result) const override {
    const int64_t baseline_ns =
        (kStartSecond + kStabiliseSeconds) * base::kNsPerSecond;
    const int64_t interfere_ns =
        baseline_ns + kBaselineSeconds * base::kNsPerSecond;
    ExperimentCell& cell = *result.mutable_experiment_cell();
    cell.set_baseline_start_timestamp_ns(baseline_ns);
    cell.set_interfere_start_timestamp_ns(interfere_ns);
    cell.set_recover_start_timestamp_ns(
        interfere_ns + absl::ToInt64Nanoseconds(timing.measured));
  }

 private:
  const std::unique_ptr<Knob> knob_;
};

SearchPlan Plan(const std::string& search) {
  auto plan = PlanSearch({}, MakeTest(search));
  EXPECT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(MeasuresIsolation(*plan));
  plan->knob = std::make_unique<FakeCells>(std::move(plan->knob));
  return *std::move(plan);
}

// Serves everything in the baseline, and a share of it beside the antagonist.
TestResult Serve(const DistributedSystemDescription& test, double kept) {
  TestResult result;
  *result.mutable_traffic_config() = test;
  result.mutable_run_info()->set_start_timestamp_ns(kStartSecond *
                                                    base::kNsPerSecond);
  ServicePerformanceLog& log =
      (*result.mutable_service_logs()->mutable_instance_logs())["client/0"];
  stats::LogHistogram all;
  const int64_t seconds =
      test.actions(0).iterations().max_duration_us() / 1'000'000;
  const int64_t interference = kStabiliseSeconds + kBaselineSeconds;
  RpcTimeSeries& series = (*log.mutable_rpc_time_series())[0];
  series.set_interval_ns(base::kNsPerSecond);
  for (int64_t second = 0; second < seconds; ++second) {
    const int count = static_cast<int>(
        std::lround(kServedPerSecond * (second < interference ? 1 : kept)));
    stats::LogHistogram latency;
    latency.RecordN(1'000'000, count);
    RpcInterval& interval = *series.add_intervals();
    interval.set_index(kStartSecond + second);
    interval.set_succeeded_count(count);
    results::EncodeHistogram(latency, *interval.mutable_service_time_ns());
    results::EncodeHistogram(latency, *interval.mutable_response_time_ns());
    all.RecordN(1'000'000, count);
  }
  RpcStatistics& statistics =
      *(*(*log.mutable_peer_logs())["server/0"].mutable_rpc_logs())[0]
           .mutable_statistics();
  statistics.set_succeeded_count(static_cast<int64_t>(all.count()));
  results::EncodeHistogram(all, *statistics.mutable_service_time_ns());
  results::EncodeHistogram(all, *statistics.mutable_response_time_ns());
  result.mutable_run_info()->set_end_timestamp_ns((kStartSecond + seconds) *
                                                  base::kNsPerSecond);
  return result;
}

double RateOf(const DistributedSystemDescription& test) {
  return static_cast<double>(base::kNsPerSecond) /
         static_cast<double>(
             test.actions(0).iterations().open_loop_interval_ns());
}

double WeightOf(const DistributedSystemDescription& test) {
  return test.experiment().controls(0).groups(0).cpu_weight();
}

// Runs the search on a system that keeps this share of its goodput.
SearchReport RunPlan(
    const SearchPlan& plan,
    const std::function<double(const DistributedSystemDescription&)>& kept) {
  TestSequenceResults results;
  const SearchCallbacks callbacks = {
      .run = [&](const DistributedSystemDescription& test,
                 const ProgressWatcher&) -> absl::StatusOr<TestResult> {
        return Serve(test, kept(test));
      }};
  const absl::Status status = RunLoadSearch(plan, callbacks, results);
  EXPECT_TRUE(status.ok()) << status;
  return results.searches(0);
}

TEST(IsolationSearchTest, FindsTheHighestLoadThatKeepsIt) {
  // Beside the antagonist, the service does at most 500 requests per second.
  const SearchReport report = RunPlan(
      Plan("objectives: 'isol_mean>=90%'"),
      [](const auto& test) { return std::min(1.0, 500 / RateOf(test)); });
  EXPECT_EQ(report.verdict(), "converged") << report.evidence();
  EXPECT_NEAR(report.load(), 500 / 0.9, 500 / 0.9 * 0.03);
  EXPECT_FALSE(report.finds_lowest());
}

// Otherwise the search would never end: what is overloaded anyway keeps all of
// its goodput beside an antagonist.
TEST(IsolationSearchTest, ALoadThatIsTooMuchAloneIsAMiss) {
  const SearchPlan plan = Plan("objectives: 'isol_mean>=90%'");
  TestSequenceResults results;
  const SearchCallbacks callbacks = {
      .run = [](const DistributedSystemDescription& test,
                const ProgressWatcher&) -> absl::StatusOr<TestResult> {
        constexpr double kCapacity = 1000;
        const double load = std::max(1.0, RateOf(test) / kCapacity);
        TestResult result = Serve(test, 1);
        for (RpcInterval& interval :
             *(*(*result.mutable_service_logs()
                      ->mutable_instance_logs())["client/0"]
                    .mutable_rpc_time_series())[0]
                  .mutable_intervals()) {
          interval.set_offered_count(std::lround(kServedPerSecond * load));
        }
        return result;
      }};
  const absl::Status status = RunLoadSearch(plan, callbacks, results);
  ASSERT_TRUE(status.ok()) << status;
  const SearchReport& report = results.searches(0);
  EXPECT_EQ(report.verdict(), "converged") << report.evidence();
  // 95 % are served.
  EXPECT_NEAR(report.load(), 1000 / 0.95, 1000 / 0.95 * 0.03);
}

TEST(IsolationSearchTest, FindsTheLowestWeightThatKeepsIt) {
  // A weight of 225 keeps 90 %.
  const SearchReport report = RunPlan(
      Plan("objectives: 'isol_mean>=90%' knob: 'control:on:cpu_weight'"),
      [](const auto& test) { return WeightOf(test) / (WeightOf(test) + 25); });
  EXPECT_EQ(report.verdict(), "converged") << report.evidence();
  EXPECT_TRUE(report.finds_lowest());
  EXPECT_EQ(report.load_unit(), "cpu_weight");
  EXPECT_GE(report.load(), 225);
  EXPECT_LE(report.load(), 240);
}

TEST(IsolationSearchTest, GoesOnWhereItWasInterrupted) {
  const SearchPlan plan =
      Plan("objectives: 'isol_mean>=90%' knob: 'control:on:cpu_weight'");
  const auto kept = [](const DistributedSystemDescription& test) {
    return WeightOf(test) / (WeightOf(test) + 25);
  };
  int runs_left = 4;
  TestSequenceResults results;
  SearchCallbacks callbacks;
  callbacks.run = [&](const DistributedSystemDescription& test,
                      const ProgressWatcher&) -> absl::StatusOr<TestResult> {
    if (--runs_left < 0) return absl::CancelledError("stopped");
    return Serve(test, kept(test));
  };
  EXPECT_FALSE(RunLoadSearch(plan, callbacks, results).ok());
  EXPECT_EQ(results.searches(0).probes_size(), 4);
  runs_left = 100;
  ASSERT_TRUE(RunLoadSearch(plan, callbacks, results).ok());
  EXPECT_EQ(results.searches(0).load(), RunPlan(plan, kept).load());
}

TEST(IsolationSearchTest, ALostSubjectIsAMiss) {
  const SearchPlan plan =
      Plan("objectives: 'isol_mean>=90%' knob: 'control:on:cpu_weight'");
  TestSequenceResults results;
  const SearchCallbacks callbacks = {
      .run = [&](const DistributedSystemDescription& test,
                 const ProgressWatcher&) -> absl::StatusOr<TestResult> {
        TestResult result = Serve(test, 1);
        if (WeightOf(test) >= 60) return result;
        result.mutable_run_info()->set_failure("server/0 was lost");
        (*result.mutable_service_logs()->mutable_instance_logs())["server/0"]
            .set_measurements_end_timestamp_ns((kStartSecond + 20) *
                                               base::kNsPerSecond);
        return result;
      }};
  const absl::Status status = RunLoadSearch(plan, callbacks, results);
  ASSERT_TRUE(status.ok()) << status;
  const SearchReport& report = results.searches(0);
  EXPECT_EQ(report.verdict(), "converged") << report.evidence();
  EXPECT_GE(report.load(), 60);
  EXPECT_LE(report.load(), 62);
}

TEST(IsolationSearchTest, NeedsAnExperiment) {
  DistributedSystemDescription test = MakeTest("objectives: 'isol_mean>=90%'");
  test.clear_experiment();
  const absl::StatusOr<SearchPlan> plan = PlanSearch({}, test);
  ASSERT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(plan.status().message()),
              HasSubstr("needs an antagonist"));
}

}  // namespace
}  // namespace distbench::protection
