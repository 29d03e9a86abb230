// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/experiment/phases.h"

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/text_scanner.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/config/syntax/quantity.h"

namespace distbench::protection {
namespace {

// Of a field of the phases, unless that breaks a rule.
void ReadDuration(const ExperimentPhases& phases, absl::string_view field,
                  const std::string& text, absl::Duration& duration) {
  if (!config::IsRight(phases, field)) return;
  duration = config::ParseDurationWithUnit(text).value_or(duration);
}

}  // namespace

PhaseDurations ReadPhases(const ExperimentPhases& phases) {
  PhaseDurations durations;
  ReadDuration(phases, "stabilise", phases.stabilise(), durations.stabilise);
  ReadDuration(phases, "flat_over", phases.flat_over(), durations.flat_over);
  ReadDuration(phases, "baseline", phases.baseline(), durations.baseline);
  ReadDuration(phases, "interfere", phases.interfere(), durations.interfere);
  ReadDuration(phases, "recover", phases.recover(), durations.recover);
  durations.flat_within_percent = phases.flat_within_percent();
  return durations;
}

void CheckPhases(const ExperimentPhases& phases, const config::Path& path,
                 config::Problems& problems) {
  const PhaseDurations durations = ReadPhases(phases);
  if (durations.flat_over <= durations.stabilise) return;
  problems.Add(
      path.Field("flat_over"), absl::FormatDuration(durations.flat_over),
      " is longer than stabilise, ", absl::FormatDuration(durations.stabilise),
      ", in which it must pass; shorten it, or lengthen that");
}

ExperimentPhases FormatPhases(const PhaseDurations& durations) {
  ExperimentPhases phases;
  phases.set_stabilise(absl::FormatDuration(durations.stabilise));
  phases.set_flat_over(absl::FormatDuration(durations.flat_over));
  phases.set_flat_within_percent(durations.flat_within_percent);
  phases.set_baseline(absl::FormatDuration(durations.baseline));
  phases.set_interfere(absl::FormatDuration(durations.interfere));
  phases.set_recover(absl::FormatDuration(durations.recover));
  return phases;
}

absl::StatusOr<ExperimentLoad> ParseExperimentLoad(absl::string_view text) {
  if (!absl::EndsWith(text, "%")) {
    const absl::StatusOr<double> rate = config::ParseRateWithUnit(text);
    if (rate.ok()) return ExperimentLoad{.value = *rate};
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(text),
                     " is not a load; write a rate such as 200/s, or a share "
                     "of the capacity such as 80%"));
  }
  const std::optional<double> percent = base::ParsePercent(text);
  if (!percent || *percent <= 0 || *percent > 100 * kMaxLoadShare) {
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(text),
                     " is not a share of the capacity; must be above 0%, and "
                     "at most ",
                     100 * kMaxLoadShare, "%"));
  }
  return ExperimentLoad{.is_share = true, .value = *percent / 100};
}

}  // namespace distbench::protection
