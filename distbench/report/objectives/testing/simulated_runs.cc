// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/objectives/testing/simulated_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "distbench/base/time_units.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/objectives.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/time_series.h"
#include "distbench/stats/distributions.h"
#include "distbench/stats/interval_series.h"
#include "distbench/stats/metric.h"
#include "glog/logging.h"

namespace distbench::report {
namespace {

constexpr int64_t kStartSecond = 1'700'000'000;

// The logarithm of a latency has a standard deviation of 1 around that of this.
constexpr double kMedianNs = base::kNsPerMs;

constexpr double kFailures = 0.005;
constexpr double kSecondAttempts = 0.2;
constexpr double kBusy = 0.5;

// Of dependent runs: how much a latency has from the one before it, and how
// much seconds differ from each other, relative to their means.
constexpr double kCorrelation = 0.95;
constexpr double kSpreadOfRates = 0.2;
constexpr double kSpreadOfFailures = 1;
constexpr double kSpreadOfAttempts = 0.5;
constexpr double kSpreadOfBusy = 0.1;

// Draws what varies within a run.
class Draws {
 public:
  Draws(const SimulatedRun& run, std::mt19937_64& random)
      : run_(run), random_(random) {}

  // The mean of a second, around that of all.
  double OfSecond(double mean, double spread) {
    if (run_.is_independent) return mean;
    const double shape = 1 / (spread * spread);
    return mean * std::gamma_distribution<double>(shape, 1 / shape)(random_);
  }

  int64_t Count(double mean) {
    return std::poisson_distribution<int64_t>(mean)(random_);
  }

  bool IsHit(double share) {
    return std::bernoulli_distribution(std::min(share, 1.0))(random_);
  }

  int64_t LatencyNs() {
    const double correlation = run_.is_independent ? 0 : kCorrelation;
    logarithm_ = correlation * logarithm_ +
                 std::sqrt(1 - correlation * correlation) * normal_(random_);
    return std::llround(std::exp(logarithm_) * kMedianNs);
  }

  double Normal() { return normal_(random_); }

 private:
  const SimulatedRun& run_;
  std::mt19937_64& random_;
  std::normal_distribution<double> normal_;
  double logarithm_ = normal_(random_);
};

// What the client records.
struct Recorded {
  results::RpcTotals totals;
  results::TallyOf<PolicyStatistics> attempts;
  stats::IntervalSeries series;
};

// An RPC that ended in this second.
void RecordRpc(int64_t second, int64_t attempts, bool has_failed,
               int64_t latency_ns, Recorded& recorded) {
  stats::IntervalCounts& counts = recorded.series.At(second);
  ++counts.sent;
  counts.attempts += attempts;
  using Statistics = PolicyStatistics;
  ++recorded.attempts.count(Statistics::kRequestCountFieldNumber);
  recorded.attempts.count(Statistics::kAttemptCountFieldNumber) += attempts;
  if (has_failed) {
    ++counts.failed;
    ++recorded.totals.counts.failed_count;
    recorded.attempts.count(Statistics::kFailedAttemptCountFieldNumber) +=
        attempts;
    return;
  }
  ++counts.succeeded;
  ++recorded.totals.counts.succeeded_count;
  recorded.totals.service_time_ns.Record(latency_ns);
  recorded.series.ServiceTimes(second).Record(latency_ns);
  ++recorded.attempts.count(Statistics::kSucceededAttemptCountFieldNumber);
  recorded.attempts.count(Statistics::kAbandonedAttemptCountFieldNumber) +=
      attempts - 1;
  recorded.attempts.histogram(Statistics::kAttemptTimeNsFieldNumber)
      .Record(latency_ns);
}

void RecordSecond(const SimulatedRun& run, int64_t second, Draws& draws,
                  Recorded& recorded) {
  const int64_t rpcs =
      draws.Count(draws.OfSecond(run.rpcs_per_second, kSpreadOfRates));
  const double failures = draws.OfSecond(kFailures, kSpreadOfFailures);
  const double second_attempts =
      draws.OfSecond(kSecondAttempts, kSpreadOfAttempts);
  for (int64_t i = 0; i < rpcs; ++i) {
    const int64_t attempts = draws.IsHit(second_attempts) ? 2 : 1;
    RecordRpc(second, attempts, draws.IsHit(failures), draws.LatencyNs(),
              recorded);
  }
}

// Neighbouring seconds of a dependent run have half of their excess in common.
void RecordHost(const SimulatedRun& run, Draws& draws, TestResult& result) {
  NodeResources& node =
      (*result.mutable_resource_usage_logs()->mutable_node_resources())["node"];
  const double correlation = run.is_independent ? 0 : 0.5;
  double excess = draws.Normal();
  for (int i = 0; i < run.seconds; ++i) {
    ResourceSample& sample = *node.add_samples();
    sample.set_end_timestamp_ns((kStartSecond + i + 1) * base::kNsPerSecond);
    sample.set_duration_ns(base::kNsPerSecond);
    sample.set_host_cpu_ns(
        std::llround((kBusy + kSpreadOfBusy * excess) * base::kNsPerSecond));
    excess = correlation * excess +
             std::sqrt(1 - correlation * correlation) * draws.Normal();
  }
}

// A percentile of all RPCs, of which those that failed rank highest.
double TrueQuantileNs(double quantile) {
  const double of_succeeded = quantile / (1 - kFailures);
  CHECK_LT(of_succeeded, 1) << "falls among the failures";
  return kMedianNs * std::exp(stats::NormalQuantile(of_succeeded));
}

bool Contains(const ObjectiveOutcome& outcome, double truth) {
  return outcome.estimate.lower.value_or(0) <= truth &&
         truth <= outcome.estimate.upper.value_or(
                      std::numeric_limits<double>::max());
}

}  // namespace

TestResult SimulateRun(const SimulatedRun& run, std::mt19937_64& random) {
  Draws draws(run, random);
  Recorded recorded;
  for (int i = 0; i < run.seconds; ++i) {
    RecordSecond(run, kStartSecond + i, draws, recorded);
  }
  recorded.series.Close();
  recorded.totals.counts.first_start_timestamp_ns =
      kStartSecond * base::kNsPerSecond;
  recorded.totals.counts.last_end_timestamp_ns =
      (kStartSecond + run.seconds) * base::kNsPerSecond;

  TestResult result;
  result.mutable_traffic_config()->add_rpc_descriptions()->set_name("query");
  ServicePerformanceLog& log =
      (*result.mutable_service_logs()->mutable_instance_logs())["client/0"];
  RpcPerformanceLog& rpc_log =
      (*(*log.mutable_peer_logs())["server/0"].mutable_rpc_logs())[0];
  recorded.totals.Encode(*rpc_log.mutable_statistics());
  recorded.attempts.Encode((*log.mutable_policy_statistics())[0]);
  results::EncodeTimeSeries({&recorded.series}, [&log](RpcTimeSeries piece) {
    const absl::Status status = results::MergeTimeSeries(
        std::move(piece), (*log.mutable_rpc_time_series())[0]);
    CHECK(status.ok()) << status;
  });
  RecordHost(run, draws, result);
  return result;
}

double TruthOf(const SimulatedRun& run, const config::Objective& objective) {
  using Kind = stats::Metric::Kind;
  switch (objective.metric.kind) {
    case Kind::kMean:
      return kMedianNs * std::exp(0.5);
    case Kind::kRate:
    case Kind::kGoodput:
      return run.rpcs_per_second * (1 - kFailures);
    case Kind::kFailures:
      return kFailures;
    case Kind::kAmplification:
      return 1 + kSecondAttempts;
    case Kind::kWasted:
      return (kSecondAttempts + kFailures) / (1 + kSecondAttempts);
    case Kind::kCpu:
      return kBusy;
    default:
      return TrueQuantileNs(objective.metric.percent / 100);
  }
}

std::vector<std::string> SimulatedObjectives() {
  return {"p50<=1s",     "p90<=1s",         "p99<=1s",         "mean<=1s",
          "rate>=1",     "goodput>=1",      "failures<=5%",    "cpu<=90%",
          "wasted<=90%", "attempt_p90<=1s", "amplification<=2"};
}

std::vector<Coverage> CoverageOfObjectives(
    const SimulatedRun& run, absl::Span<const std::string> objectives, int runs,
    uint64_t seed) {
  std::vector<config::Objective> parsed;
  std::vector<Coverage> coverages;
  for (const std::string& text : objectives) {
    parsed.push_back(config::ParseObjective(text).value());
    coverages.push_back({text});
  }
  std::mt19937_64 random(seed);
  for (int i = 0; i < runs; ++i) {
    const TestResult result = SimulateRun(run, random);
    const TestTotals totals = AddUp(result);
    for (size_t k = 0; k < parsed.size(); ++k) {
      const auto outcome =
          Judge(parsed[k], result, totals, /*allowed_failures=*/1);
      CHECK(outcome.ok()) << outcome.status();
      const bool is_contained = Contains(*outcome, TruthOf(run, parsed[k]));
      Coverage& coverage = coverages[k];
      coverage.of_independent += outcome->estimate.is_of_independent;
      (outcome->estimate.is_of_independent ? coverage.contained_by_these
                                           : coverage.contained) +=
          is_contained;
    }
  }
  return coverages;
}

}  // namespace distbench::report
