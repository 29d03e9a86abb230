// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// When the phases of a run of an experiment were, and who was lost in it.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_MEASURES_PHASES_H_
#define DISTBENCH_PRODUCTS_PROTECTION_MEASURES_PHASES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/results.pb.h"

namespace distbench::protection {

// Whether the instance ("SERVICE/0") belongs to an antagonist, not to the
// subject: experiments name their services so.
bool IsAntagonist(absl::string_view instance);

// Whether the cell's antagonist runs without the subject's traffic, to be
// compared with.
bool IsAntagonistAlone(const ExperimentCell& cell);

enum class ProtectionPhase { kBaseline, kInterference, kRecovery };

// One of "baseline", "interference" and "recovery".
absl::string_view ProtectionPhaseName(ProtectionPhase phase);

// A span of Unix time in nanoseconds; the end is excluded.
struct TimeSpan {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

struct ProtectionPhases {
  TimeSpan baseline;
  TimeSpan interference;
  TimeSpan recovery;
};

// INVALID_ARGUMENT if the cell does not say when its phases began, or they are
// not in order.
absl::StatusOr<ProtectionPhases> PhasesOf(const ExperimentCell& cell);

// Cuts off what of interference and recovery is after the time.
void EndPhasesAt(int64_t end_ns, ProtectionPhases& phases);

// The phases as far as anything could work in them: if the run failed, they end
// with it.
absl::StatusOr<ProtectionPhases> WorkingPhasesOf(const TestResult& result);

// Numbers of intervals; the end is excluded.
struct IntervalRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t count() const { return end > begin ? end - begin : 0; }
};

// The intervals that lie within the span as a whole. Requires interval_ns > 0.
IntervalRange WholeIntervals(const TimeSpan& span, int64_t interval_ns);

// Whether an engine of the subject, or of the antagonist, was lost in the run.
// What its activities did is lost with it.
bool LostSubject(const TestResult& result);
bool LostAntagonist(const TestResult& result);

// How the records of a run end before the end of its phases, in Unix
// nanoseconds. Absent: they do not.
struct RecordEnds {
  // The first measurements of the subject's RPC end, because the engine of a
  // client was lost.
  std::optional<int64_t> first_loss_ns;

  // The subject failed: the run ended, and not because of the antagonist.
  std::optional<int64_t> failure_ns;

  // The antagonist was lost, and the run ended with it.
  std::optional<int64_t> antagonist_loss_ns;
};

// rpc_index: that of the subject's RPC.
RecordEnds RecordEndsOf(const TestResult& result, int rpc_index);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_MEASURES_PHASES_H_
