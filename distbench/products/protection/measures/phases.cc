// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/measures/phases.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "distbench/products/protection/experiment/services.h"
#include "distbench/results/run_failure.h"

namespace distbench::protection {
namespace {

void LowerTo(int64_t value, std::optional<int64_t>& least) {
  least = std::min(value, least.value_or(value));
}

bool LostInstance(const TestResult& result, bool of_antagonist) {
  const auto& logs = result.service_logs().instance_logs();
  return std::any_of(logs.begin(), logs.end(), [&](const auto& entry) {
    const auto& [instance, log] = entry;
    return log.has_measurements_end_timestamp_ns() &&
           IsAntagonist(instance) == of_antagonist;
  });
}

}  // namespace

bool IsAntagonist(absl::string_view instance) {
  return absl::StartsWith(instance, kAntagonistPrefix);
}

bool IsAntagonistAlone(const ExperimentCell& cell) {
  return cell.purpose() == kAntagonistAlone;
}

absl::string_view ProtectionPhaseName(ProtectionPhase phase) {
  switch (phase) {
    case ProtectionPhase::kBaseline:
      return "baseline";
    case ProtectionPhase::kInterference:
      return "interference";
    case ProtectionPhase::kRecovery:
      break;
  }
  return "recovery";
}

absl::StatusOr<ProtectionPhases> PhasesOf(const ExperimentCell& cell) {
  const int64_t baseline_ns = cell.baseline_start_timestamp_ns();
  const int64_t interfere_ns = cell.interfere_start_timestamp_ns();
  const int64_t recover_ns = cell.recover_start_timestamp_ns();
  if (baseline_ns <= 0 || interfere_ns <= 0 || recover_ns <= 0) {
    return absl::InvalidArgumentError(
        "the result does not say when its phases began");
  }
  // The recovery may be absent.
  const int64_t end_ns =
      cell.has_end_timestamp_ns() ? cell.end_timestamp_ns() : recover_ns;
  if (baseline_ns > interfere_ns || interfere_ns > recover_ns ||
      recover_ns > end_ns) {
    return absl::InvalidArgumentError(
        "the phases of the result are not in order");
  }
  return ProtectionPhases{.baseline = {baseline_ns, interfere_ns},
                          .interference = {interfere_ns, recover_ns},
                          .recovery = {recover_ns, end_ns}};
}

void EndPhasesAt(int64_t end_ns, ProtectionPhases& phases) {
  for (TimeSpan* span : {&phases.interference, &phases.recovery}) {
    span->end_ns = std::min(span->end_ns, end_ns);
    span->start_ns = std::min(span->start_ns, span->end_ns);
  }
}

absl::StatusOr<ProtectionPhases> WorkingPhasesOf(const TestResult& result) {
  absl::StatusOr<ProtectionPhases> phases = PhasesOf(result.experiment_cell());
  if (phases.ok() && results::FailureOf(result)) {
    EndPhasesAt(result.run_info().end_timestamp_ns(), *phases);
  }
  return phases;
}

IntervalRange WholeIntervals(const TimeSpan& span, int64_t interval_ns) {
  const int64_t before = span.start_ns / interval_ns;
  return {.begin = before + (span.start_ns % interval_ns > 0 ? 1 : 0),
          .end = span.end_ns / interval_ns};
}

bool LostSubject(const TestResult& result) {
  return LostInstance(result, /*of_antagonist=*/false);
}

bool LostAntagonist(const TestResult& result) {
  return LostInstance(result, /*of_antagonist=*/true);
}

RecordEnds RecordEndsOf(const TestResult& result, int rpc_index) {
  RecordEnds ends;
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    // Servers have no records of it that could end.
    if (!log.has_measurements_end_timestamp_ns() || IsAntagonist(instance) ||
        !log.rpc_time_series().contains(rpc_index)) {
      continue;
    }
    LowerTo(log.measurements_end_timestamp_ns(), ends.first_loss_ns);
  }
  if (!results::FailureOf(result)) return ends;
  // With the antagonist, only its own last second or two are missing.
  const bool is_antagonists = LostAntagonist(result) && !LostSubject(result);
  (is_antagonists ? ends.antagonist_loss_ns : ends.failure_ns) =
      result.run_info().end_timestamp_ns();
  return ends;
}

}  // namespace distbench::protection
