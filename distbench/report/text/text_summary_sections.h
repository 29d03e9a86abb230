// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_REPORT_TEXT_TEXT_SUMMARY_SECTIONS_H_
#define DISTBENCH_REPORT_TEXT_TEXT_SUMMARY_SECTIONS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/stats/outcomes.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Why RPCs failed and instances stopped.

// Returns a line for each of the most frequent causes of each RPC, and for the
// instances that stopped early. `totals` must belong to the result.
std::vector<std::string> FailureLines(const TestResult& result,
                                      const TestTotals& totals);

// The figures by which lines describe times. Those of JSON and CSV are the
// fields of proto/report.proto.
struct TimeFigure {
  absl::string_view heading;

  // From 0, the minimum, to 100, the maximum; less than 0 for the mean.
  double percent;
};

using TimeFigures = absl::Span<const TimeFigure>;

namespace figures {

inline constexpr TimeFigure kMin = {"min", 0};
inline constexpr TimeFigure kMean = {"mean", -1};
inline constexpr TimeFigure kP50 = {"median", 50};
inline constexpr TimeFigure kP90 = {"90%", 90};
inline constexpr TimeFigure kP99 = {"99%", 99};
inline constexpr TimeFigure kP999 = {"99.9%", 99.9};
inline constexpr TimeFigure kMax = {"max", 100};

}  // namespace figures

// The figures of times in nanoseconds, each after its heading: "median: 12ns
// 99%: failed". Requires at least one of the times; those that failed are above
// all others, and in no mean.
std::string FiguresText(const stats::OutcomesView& times, TimeFigures shown);

// Returns the section "Policies" of the summary: for each RPC with a policy,
// its load and goodput, its attempts, and what else its policy did. Empty if
// there is none.
std::vector<std::string> PolicyLines(const TestResult& result,
                                     const TestTotals& totals);

// Returns the section "Recovery": how long each RPC whose goodput a server's
// fault lowered took to recover from it. Empty if there were no faults.
std::vector<std::string> RecoveryLines(const TestResult& result);

// The lines of the summary on servers' faults: when they were in effect, after
// the start of the traffic, and what they did.
std::vector<std::string> FaultLines(const TestResult& result);

// Returns the section "Engines": what hosted instances, and which, if it was
// not the nodes' own program alone.
std::vector<std::string> EngineLines(const TestResult& result);

// The lines on services that limit their requests.
std::vector<std::string> AdmissionLines(const TestResult& result);

// Returns the section "Streams" of the summary: for each RPC that streams, a
// line with its messages, and one for each time that was measured of them.
// Empty if there is none.
std::vector<std::string> StreamLines(const TestResult& result,
                                     const TestTotals& totals);

// Returns the section "Time parts" of the summary: a line for each RPC and part
// of its time, in the order in which an RPC passes through them. Empty if the
// test did not measure time parts.
std::vector<std::string> TimePartLines(const TestTotals& totals);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TEXT_TEXT_SUMMARY_SECTIONS_H_
