// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/experiment_display.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "distbench/products/protection/cell_config.h"
#include "distbench/products/protection/experiment/cells.h"
#include "distbench/products/protection/runner.h"

namespace distbench::protection {
namespace {

std::string Seconds(absl::Duration duration) {
  return absl::FormatDuration(absl::Ceil(duration, absl::Seconds(1)));
}

absl::string_view OutcomeText(CellOutcome outcome) {
  switch (outcome) {
    case CellOutcome::kKept:
      return "measured";
    case CellOutcome::kRepeated:
      return "not still, and repeated with more time";
    case CellOutcome::kOmitted:
      return "omitted";
  }
  return "unknown";
}

}  // namespace

void ExperimentDisplay::ShowPlan(const ExperimentPlan& plan,
                                 const TestSequenceResults& results) {
  absl::Duration time;
  const size_t count = ListCells(plan.experiment, plan.seed).size();
  const std::vector<ExperimentCell> left = RunsLeft(plan, results);
  for (const ExperimentCell& cell : left) {
    // The subject holds still no sooner than it can be seen to.
    time += TimesOf(plan, cell, plan.phases.flat_over).end;
  }
  write_(absl::StrFormat(
      "Protection of %s: %d runs%s, at least %s. Random order and traffic: "
      "--seed=%d\n",
      plan.rpc, count,
      left.size() < count
          ? absl::StrCat(", of which ", left.size(), " are left")
          : "",
      Seconds(time), plan.seed));
}

void ExperimentDisplay::Announce(const CellRun& run) {
  std::string text = absl::StrFormat(
      "run %d of %d: %s, repetition %d", run.cell.order() + 1, run.count,
      DescribeCell(run.cell), run.cell.repetition() + 1);
  if (run.attempt > 1) absl::StrAppend(&text, ", attempt ", run.attempt);
  write_(absl::StrCat(text, ": ", Seconds(run.duration), "\n"));
}

void ExperimentDisplay::Observe(const CellRun& run, CellOutcome outcome,
                                const std::string& evidence) {
  std::string text =
      absl::StrCat("run ", run.cell.order() + 1, " ", OutcomeText(outcome));
  if (!evidence.empty()) absl::StrAppend(&text, ": ", evidence);
  write_(absl::StrCat(text, "\n"));
}

}  // namespace distbench::protection
