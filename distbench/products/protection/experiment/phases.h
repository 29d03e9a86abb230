// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The texts of an experiment: its phases and its loads.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_PHASES_H_
#define DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_PHASES_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/config/problems/problem.h"
#include "proto/experiment.pb.h"

namespace distbench::protection {

// The phases of each cell, in this order, with the defaults of their fields.
struct PhaseDurations {
  // The longest time until throughput and latency hold still: until their slope
  // over `flat_over` is below `flat_within_percent` of their mean per second.
  absl::Duration stabilise = absl::Seconds(60);
  absl::Duration flat_over = absl::Seconds(10);
  double flat_within_percent = 0.25;

  absl::Duration baseline = absl::Seconds(15);
  absl::Duration interfere = absl::Seconds(60);
  absl::Duration recover = absl::Seconds(15);

  // The longest that a cell takes.
  absl::Duration Total() const {
    return stabilise + baseline + interfere + recover;
  }
};

// Reads the phases. Those whose fields break a rule have their defaults.
PhaseDurations ReadPhases(const ExperimentPhases& phases);

// Adds a problem if the phases, which are at `path`, do not go together.
void CheckPhases(const ExperimentPhases& phases, const config::Path& path,
                 config::Problems& problems);

// The phases with every default made explicit.
ExperimentPhases FormatPhases(const PhaseDurations& durations);

// A load as it was asked for.
struct ExperimentLoad {
  // Whether `value` is a share of the capacity (1 is all of it), rather than
  // requests per second.
  bool is_share = false;
  double value = 0;  // above 0
};

// More than a tenfold overload shows nothing that a tenfold one does not.
inline constexpr double kMaxLoadShare = 10;

// Parses "200/s" (a rate with its unit) or "80%". INVALID_ARGUMENT quotes the
// text and shows the right form.
absl::StatusOr<ExperimentLoad> ParseExperimentLoad(absl::string_view text);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_PHASES_H_
