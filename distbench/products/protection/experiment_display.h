// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Shows an experiment's progress to the user, in lines that stay.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_DISPLAY_H_
#define DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_DISPLAY_H_

#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/products/protection/experiment_plan.h"
#include "distbench/products/protection/runner.h"
#include "proto/results.pb.h"

namespace distbench::protection {

// Not thread-safe.
class ExperimentDisplay {
 public:
  // `write` receives whole lines with their ends.
  explicit ExperimentDisplay(std::function<void(absl::string_view text)> write)
      : write_(std::move(write)) {}

  // Shows how many runs there are, how many of them `results` has already, and
  // how long the others take at least.
  void ShowPlan(const ExperimentPlan& plan, const TestSequenceResults& results);

  // Callbacks for RunExperiment().
  void Announce(const CellRun& run);
  void Observe(const CellRun& run, CellOutcome outcome,
               const std::string& evidence);

 private:
  const std::function<void(absl::string_view text)> write_;
};

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_DISPLAY_H_
