// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/test_outcomes.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "distbench/metrics/openmetrics.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/objectives/objectives.h"
#include "distbench/report/verdicts/check.h"

namespace distbench::sequencer {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr const char* kTestVerdicts[] = {"ok", "warn", "invalid", "failed"};
constexpr const char* kObjectiveVerdicts[] = {"pass", "fail", "undecided"};

}  // namespace

void TestOutcomes::Add(const std::string& test, const TestResult& result) {
  const std::vector<report::Check> checks = report::CheckObjectives(result);
  absl::MutexLock lock(&mutex_);
  ++tests_[report::RunVerdict(result)];
  for (const Finding& finding : result.run_info().findings()) {
    CountFinding(finding);
  }
  objectives_.erase(
      std::remove_if(objectives_.begin(), objectives_.end(),
                     [&](const Objective& o) { return o.test == test; }),
      objectives_.end());
  for (const report::Check& check : checks) {
    objectives_.push_back(
        {test, check.condition,
         absl::AsciiStrToLower(report::VerdictName(check.verdict))});
    if (objectives_.size() > kMostObjectives) objectives_.pop_front();
  }
}

void TestOutcomes::CountFinding(const Finding& finding) {
  std::pair key(report::SeverityName(finding.severity()), finding.code());
  if (findings_.size() >= kMostFindingCodes && !findings_.contains(key)) {
    key.second = metrics::kOtherNames;
  }
  ++findings_[key];
}

std::vector<MetricFamily> TestOutcomes::Metrics() const {
  absl::MutexLock lock(&mutex_);
  // Includes zero counts, so that the first test shows as an increase.
  MetricFamily tests = metrics::Family(
      "distbench_tests_ended_total",
      "Tests that have ended, by the verdict on them", MetricType::Counter);
  for (const char* verdict : kTestVerdicts) {
    const auto found = tests_.find(verdict);
    metrics::AddMetric({{"verdict", verdict}}, tests).counter.value =
        found == tests_.end() ? 0 : static_cast<double>(found->second);
  }
  MetricFamily findings = metrics::Family(
      "distbench_findings_total", "Findings about tests that have ended",
      MetricType::Counter);
  for (const auto& [kind, count] : findings_) {
    metrics::AddMetric({{"severity", kind.first}, {"code", kind.second}},
                       findings)
        .counter.value = static_cast<double>(count);
  }
  MetricFamily objectives = metrics::Family(
      "distbench_objective",
      "1 for the verdict on an objective in the last run of its test",
      MetricType::Gauge);
  for (const Objective& objective : objectives_) {
    metrics::AddStates(
        {{"test", objective.test}, {"objective", objective.text}}, "verdict",
        kObjectiveVerdicts, objective.verdict, objectives);
  }
  return {std::move(tests), std::move(findings), std::move(objectives)};
}

}  // namespace distbench::sequencer
