// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Objectives on isolation, which the product measures.

#include "distbench/base/plugins.h"
#include "distbench/products/protection/measures/judge_isolation.h"
#include "distbench/report/objectives/objectives.h"

namespace distbench::protection {
namespace {

bool IsIsolation(const config::Objective& objective) {
  return stats::IsIsolation(objective.metric);
}

absl::StatusOr<report::ObjectiveOutcome> JudgeOne(
    const config::Objective& objective, const TestResult& result,
    const report::TestTotals&) {
  return JudgeIsolation(objective, result);
}

const base::Plugin<report::ObjectiveJudge> kIsolation(
    "protection", new report::ObjectiveJudge{IsIsolation, JudgeOne});

}  // namespace
}  // namespace distbench::protection
