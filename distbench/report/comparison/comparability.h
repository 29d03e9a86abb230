// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Decides whether two groups of runs of a test can be compared.

#ifndef DISTBENCH_REPORT_COMPARISON_COMPARABILITY_H_
#define DISTBENCH_REPORT_COMPARISON_COMPARABILITY_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::report {

// Describes the traffic difference between the first run of all and the first
// run that differs from it; empty if there is none. Traffic is what is sent and
// when: services, RPCs, payloads, actions. Names, labels, seeds and conditions
// are not part of it.
std::string TrafficDifference(absl::Span<const TestRun> base,
                              absl::Span<const TestRun> next);

// The same for what RPCs carry and do, their payloads and activities, at
// whatever load: for searches, which change the rest. Neither group may be
// empty.
std::string WorkDifference(absl::Span<const TestRun> base,
                           absl::Span<const TestRun> next);

// Texts that are equal for runs without such differences: of the traffic, and
// of the work.
std::string TrafficText(const TestRun& run);
std::string WorkText(const TestRun& run);

// The circumstance that is the protocol drivers.
inline constexpr char kDriversCircumstance[] = "protocol drivers";

// Says which group is simulated, as the beginning of a sentence: "base is real,
// new is simulated". Empty if all runs are real.
std::string DescribeOrigins(absl::Span<const TestRun> base,
                            absl::Span<const TestRun> next);

// Something beside the traffic that may make runs differ: protocol drivers,
// placement, threads, hosts, versions. Comparing these is legitimate.
struct Circumstance {
  std::string name;

  // In all runs of a group, several values separated by commas; empty if not
  // known.
  std::string base;
  std::string other;

  bool differs() const { return base != other; }
};

// Lists what is known of either group.
std::vector<Circumstance> CompareCircumstances(absl::Span<const TestRun> base,
                                               absl::Span<const TestRun> other);

// Returns a sentence, with the start of long values.
std::string DescribeCircumstance(const Circumstance& circumstance,
                                 absl::string_view other_name);

// Describes those that differ.
std::vector<std::string> DescribeDifferences(absl::Span<const TestRun> base,
                                             absl::string_view other_name,
                                             absl::Span<const TestRun> other);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_COMPARABILITY_H_
