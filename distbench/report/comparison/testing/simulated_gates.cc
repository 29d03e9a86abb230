#include "distbench/report/comparison/testing/simulated_gates.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison/gate.h"
#include "distbench/report/comparison/repeated_looks.h"
#include "distbench/report/verdicts/check.h"

namespace distbench::report {
namespace {

constexpr uint64_t kRpcsPerRun = 100'000;
constexpr double kBaseNs = 1e6;

TestComparison WithoutRuns(const GateExperiment& experiment) {
  TestComparison comparison;
  comparison.test = "simulated";
  if (experiment.until_decided) {
    comparison.look_plan = LookPlan{kFirstLook, experiment.runs};
  }
  for (int i = 0; i < experiment.conditions; ++i) {
    comparison.rpcs.push_back({absl::StrCat("rpc_", i), "service time", {}});
    comparison.rpcs.back().metrics.push_back(
        {stats::Metric{stats::Metric::Kind::kPercentile, 99},
         ComparisonVerdict::kNoDifference, ""});
  }
  return comparison;
}

void AddRound(const GateExperiment& experiment, std::mt19937_64& random,
              TestComparison& comparison) {
  std::normal_distribution<double> deviation(0, experiment.spread);
  for (RpcComparison& rpc : comparison.rpcs) {
    MetricComparison& metric = rpc.metrics.front();
    metric.base_values.push_back(kBaseNs * std::exp(deviation(random)));
    metric.next_values.push_back(kBaseNs * experiment.true_ratio *
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
  const Gate gate =
      *ParseGate(absl::StrCat("p99>", 100 * experiment.margin, "%"));
  std::mt19937_64 random(experiment.seed);
  GateOutcomes outcomes;
  for (int i = 0; i < experiment.gates; ++i) {
    TestComparison comparison = WithoutRuns(experiment);
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

}  // namespace distbench::report
