// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// One run of a cell of an experiment: what its subject kept, second by second.
//
// A second is an interval of the subject's series over time, which is longer
// than a second if the memory for measurements was used up. All measures are
// relative to the baseline of the same run. docs/measuring.md ("Protection")
// defines them.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_MEASURES_RUN_H_
#define DISTBENCH_PRODUCTS_PROTECTION_MEASURES_RUN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/protection/measures/phases.h"
#include "distbench/products/protection/measures/value_distribution.h"
#include "proto/results.pb.h"

namespace distbench::protection {

// The percentiles whose latencies are compared, and the one that is meant where
// none is named.
inline constexpr std::array<double, 3> kImpactQuantiles = {0.5, 0.95, 0.99};
inline constexpr size_t kMainImpact = 1;

// The subject has recovered in the first second from which on, for this long,
// isol is at least, and the impact on p95 at most, this.
inline constexpr int64_t kRecoveredForNs = 3'000'000'000;
inline constexpr double kRecoveredIsolation = 0.95;
inline constexpr double kRecoveredImpact = 0.05;

// The traffic whose protection is measured.
struct ProtectionSubject {
  std::string rpc;

  // Requests that took longer are not goodput. Absent: all that succeeded are.
  std::optional<int64_t> limit_ns;
};

// INVALID_ARGUMENT if the experiment does not name an RPC, or if its objective
// is not a limit of latencies.
absl::StatusOr<ProtectionSubject> SubjectOf(const Experiment& experiment);

enum class SecondState {
  kMeasured,  // also if it was silent
  kMissing,   // without a complete record, because an engine was lost
  kFailed,    // after the subject had failed
};

// One of "measured", "missing" and "failed".
absl::string_view SecondStateName(SecondState state);

struct ProtectionSecond {
  ProtectionPhase phase = ProtectionPhase::kBaseline;
  SecondState state = SecondState::kMeasured;
  int64_t start_ns = 0;  // Unix time

  // Requests per second that were served within the objective.
  double goodput_per_second = 0;

  // Of the baseline's goodput, from 0 to 1.
  double isolation = 0;

  // By kImpactQuantiles: nanoseconds, or Outcomes::kFailed, as in each second
  // in which nothing ended; and by which share they exceed the baseline's, at
  // least 0, or ValueDistribution::kInfinite for kFailed. The share is absent
  // if the baseline's percentile is failed or 0.
  std::array<int64_t, kImpactQuantiles.size()> latency_ns = {};
  std::array<std::optional<double>, kImpactQuantiles.size()> impact = {};
};

// What a baseline is worth, with which the rest of its run is compared.
struct BaselineQuality {
  int64_t second_count = 0;
  int64_t silent_count = 0;  // of these: nothing was served

  // Of the requests that were due in it, or ended: those that were served
  // within the objective; 1 if there were none.
  double served_share = 1;

  // Requests that succeeded without a response time, although others have one.
  // They are no goodput.
  int64_t without_response_time_count = 0;

  // Whether the main percentile can be compared with.
  bool has_main_impact = true;
};

struct ProtectionRun {
  const TestResult* result = nullptr;

  // Why there are no measures; empty if there are. The rest is then
  // meaningless, except for baseline.served_share.
  std::string problem;

  int64_t interval_ns = 0;

  // Clients whose series could not be added to the others'.
  int left_out_count = 0;

  // Whether latencies are response times (open loops) or service times.
  bool has_response_times = false;

  // Requests per second within the objective, and latencies of all requests of
  // the phase together.
  double baseline_per_second = 0;
  std::array<int64_t, kImpactQuantiles.size()> baseline_ns = {};
  BaselineQuality baseline;

  // Records lie outside of the time of the run.
  bool clocks_contradict = false;

  // The whole seconds of all phases, ascending.
  std::vector<ProtectionSecond> seconds;

  // The antagonist's process was lost, which ended the run and its seconds.
  bool antagonist_lost = false;

  // Seconds from the end of the interference to the start of the second in
  // which the subject has recovered; absent if it did not within recovery_s.
  // That is shorter than the phase if the subject failed in it.
  std::optional<double> recovered_after_s;
  double recovery_s = 0;
};

// Measures a run whose experiment_cell is set. A run that failed counts as a
// failure of the subject, unless the antagonist was lost: runs that were
// cancelled do not belong into results. most_seconds limits the memory for
// damaged results; a run with more has a problem.
ProtectionRun MeasureProtection(const TestResult& result,
                                const ProtectionSubject& subject,
                                int64_t most_seconds);

// Whether the recovery was long enough to tell, and the baseline has what it is
// told by. It was not if the antagonist was lost before it.
bool ShowsRecovery(const ProtectionRun& run);

// Values of the seconds of interference, in order; none where they are absent.
std::vector<double> IsolationOf(const ProtectionRun& run);
std::vector<double> ImpactOf(const ProtectionRun& run, size_t quantile_index);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_MEASURES_RUN_H_
