// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/testing/simulated_gates.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison/gate.h"
#include "distbench/report/comparison/until_decided.h"
#include "distbench/report/verdicts/check.h"
#include "distbench/stats/run_interval.h"

namespace distbench::report {
namespace {

constexpr uint64_t kRpcsPerRun = 100'000;
constexpr double kBaseValue = 1e6;

TestComparison WithoutRuns(const GateExperiment& experiment,
                           const stats::Metric& metric) {
  TestComparison comparison;
  comparison.test = "simulated";
  if (experiment.until_decided) {
    comparison.look_plan = stats::LookPlan{kFirstLook, experiment.runs};
  }
  for (int i = 0; i < experiment.conditions; ++i) {
    comparison.rpcs.push_back({absl::StrCat("rpc_", i), "service time", {}});
    comparison.rpcs.back().metrics.push_back(
        {metric, ComparisonVerdict::kNoDifference, ""});
  }
  return comparison;
}

void AddRound(const GateExperiment& experiment, std::mt19937_64& random,
              TestComparison& comparison) {
  std::normal_distribution<double> deviation(0, experiment.spread);
  for (RpcComparison& rpc : comparison.rpcs) {
    MetricComparison& metric = rpc.metrics.front();
    metric.base_values.push_back(kBaseValue * std::exp(deviation(random)));
    metric.next_values.push_back(kBaseValue * experiment.true_ratio *
                                 std::exp(deviation(random)));
    metric.base_count += kRpcsPerRun;
    metric.next_count += kRpcsPerRun;
  }
}

bool AnyIs(CheckVerdict verdict, const std::vector<Check>& checks) {
  return std::any_of(checks.begin(), checks.end(), [&](const Check& check) {
    return check.verdict == verdict;
  });
}

void Count(const std::vector<Check>& checks, GateOutcomes& outcomes) {
  if (AllPass(checks, /*allow_undecided=*/false)) {
    ++outcomes.passed;
  } else if (AnyIs(CheckVerdict::kFail, checks)) {
    ++outcomes.failed;
  } else {
    ++outcomes.undecided;
  }
  outcomes.any_passed += AnyIs(CheckVerdict::kPass, checks);
}

}  // namespace

GateOutcomes SimulateGates(const GateExperiment& experiment) {
  const Gate gate = *ParseGate(experiment.gate);
  std::mt19937_64 random(experiment.seed);
  GateOutcomes outcomes;
  for (int i = 0; i < experiment.gates; ++i) {
    TestComparison comparison = WithoutRuns(experiment, gate.metric);
    std::vector<Check> checks;
    int runs = 0;
    while (runs < experiment.runs) {
      AddRound(experiment, random, comparison);
      ++runs;
      if (!experiment.until_decided && runs < experiment.runs) continue;
      checks = JudgeGates({gate}, {comparison});
      if (AreDecided(checks)) break;
    }
    Count(checks, outcomes);
    outcomes.mean_runs += static_cast<double>(runs) / experiment.gates;
  }
  return outcomes;
}

namespace {

// The shares of failures in the runs of a group.
std::vector<double> DrawShares(const FailureExperiment& experiment,
                               double failures, std::mt19937_64& random) {
  const double variance = experiment.spread * experiment.spread;
  std::vector<double> shares;
  for (int run = 0; run < experiment.runs; ++run) {
    double expected = failures / experiment.runs;
    if (variance > 0) {
      expected *= std::gamma_distribution(1 / variance, variance)(random);
    }
    // A Poisson distribution has no mean of 0.
    const int failed =
        expected > 0 ? std::poisson_distribution<int>(expected)(random) : 0;
    shares.push_back(failed / static_cast<double>(kRpcsPerRun));
  }
  return shares;
}

}  // namespace

GateOutcomes SimulateFailureGates(const FailureExperiment& experiment) {
  const uint64_t rpcs = kRpcsPerRun * experiment.runs;
  const double margin = experiment.more_failures / static_cast<double>(rpcs);
  const Gate gate = *ParseGate(absl::StrCat("failures>", 100 * margin, "%"));
  std::mt19937_64 random(experiment.seed);
  GateOutcomes outcomes;
  outcomes.mean_runs = experiment.runs;
  for (int i = 0; i < experiment.gates; ++i) {
    MetricComparison metric = {gate.metric, ComparisonVerdict::kNoDifference,
                               ""};
    metric.base_values =
        DrawShares(experiment, experiment.base_failures, random);
    metric.next_values =
        DrawShares(experiment,
                   experiment.base_failures + experiment.more_failures, random);
    metric.base = stats::Mean(metric.base_values);
    metric.next = stats::Mean(metric.next_values);
    metric.base_count = metric.next_count = rpcs;
    TestComparison comparison;
    comparison.test = "simulated";
    comparison.rpcs.push_back({"rpc", "service time", {std::move(metric)}});
    Count(JudgeGates({gate}, {comparison}), outcomes);
  }
  return outcomes;
}

}  // namespace distbench::report
