// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What servers did to their clients on purpose, over all instances of a
// service, and how long RPCs took to recover from it.
//
//   FaultLog of each instance ──FaultWindowsOf──▶ times of each fault
//     + LoadCurve of each RPC ──RecoveriesOf──▶ text, tables, page

#ifndef DISTBENCH_REPORT_MEASUREMENTS_FAULTS_H_
#define DISTBENCH_REPORT_MEASUREMENTS_FAULTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench::report {

// In Unix nanoseconds.
struct FaultSpan {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

// The times that are kept of a fault of an instance, ascending. Those that end
// before they begin, which a damaged result may have, are none.
std::vector<FaultSpan> TimesOf(const FaultLog& log);

// A fault of the test's config, and what it did.
struct PlannedFault {
  std::string name;
  std::string description;  // "server fails with UNAVAILABLE"
  int64_t request_count = 0;
  int64_t connection_count = 0;

  // When it was in effect on some instance, ascending and disjoint. A moment at
  // which several instances broke their connections is one, the first's.
  std::vector<FaultSpan> spans;
  bool has_more_spans = false;  // than results keep

  // It was not in effect on any instance whose log there is.
  bool was_missed = false;
};

// In the order of the config.
std::vector<PlannedFault> PlannedFaultsOf(const TestResult& result);

// Whether any of them was in effect, as far as is known.
bool AnyHappened(const std::vector<PlannedFault>& faults);

// A service that limits the requests that it takes.
struct ServiceAdmission {
  std::string service;
  int64_t admitted_count = 0;
  int64_t refused_count = 0;
  stats::LogHistogram wait_ns;  // of the admitted ones
};

// In the order of the names. Damaged histograms are left out.
std::vector<ServiceAdmission> AdmissionsOf(const TestResult& result);

// ---- Recovery ---------------------------------------------------------------

// A time in which a fault was in effect in any instance, in Unix nanoseconds.
struct FaultWindow {
  std::string fault;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

// Returns the times of all faults, ascending. Those of one fault that overlap,
// or are less than a second apart, are one: series do not tell them apart. At
// most the first 2000.
std::vector<FaultWindow> FaultWindowsOf(const TestResult& result);

// Goodput is back if it is this share of what it was before the fault or, in
// open loops, of what is offered, if that is less; for so many intervals.
// Intervals of an open loop in which nothing was due are left out everywhere.
inline constexpr double kGoodputIsBack = 0.9;
inline constexpr int kIntervalsBack = 3;

enum class RecoveryOutcome {
  kUnaffected,     // goodput was never away
  kRecovered,      // it came back
  kNotBeforeNext,  // another fault, or the same again, began before it did
  kNever,          // it did not until the end of the traffic
  kTooShort,       // fewer than kIntervalsBack intervals followed until either
  kUnknownBefore,  // fewer than kIntervalsBack intervals preceded, or no
                   // goodput
};

// Returns a name such as "never".
absl::string_view RecoveryOutcomeName(RecoveryOutcome outcome);

// What one fault at one time did to one RPC.
struct Recovery {
  FaultWindow window;
  std::string rpc = {};
  RecoveryOutcome outcome = RecoveryOutcome::kUnknownBefore;

  // The median goodput of the intervals before, per second.
  std::optional<double> before_per_second = {};

  // kRecovered and kUnaffected: from the end of the fault to the beginning of
  // the first interval in which goodput was back, at least 0. It is as exact as
  // the intervals are long, usually a second.
  std::optional<double> after_s = {};

  // How long the traffic went on after the fault until the next one: where it
  // did not recover, it would have taken longer than this.
  double observed_s = 0;
};

// Judges one RPC after each window, which are ascending. What was before is the
// median goodput over the whole intervals after the warm-up and before the
// first window that has kIntervalsBack of them, without those of windows which
// had ended by then: after an incomplete recovery, what precedes the next fault
// is no measure of health. Windows before that one count as part of the system.
// `rpc` is not set.
std::vector<Recovery> RecoveriesOf(const LoadCurve& curve,
                                   absl::Span<const FaultWindow> windows);

// Judges all RPCs, by fault window and RPC. Empty if there were no faults.
std::vector<Recovery> RecoveriesOf(const TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_FAULTS_H_
