// What kind of hosts ran a test, which its result says. Nothing of simulated
// runs was measured, so every format of reports has the mark, in programs that
// cannot simulate, too.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_ORIGIN_H_
#define DISTBENCH_REPORT_MEASUREMENTS_ORIGIN_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"
#include "proto/results.pb.h"

namespace distbench::report {

inline bool IsSimulated(const TestResult& result) {
  return result.has_simulation();
}

// The name of a test as lists show it: followed by the mark if it is simulated.
inline constexpr char kSimulatedMark[] = " (simulated)";
std::string MarkedName(const std::string& name, const TestResult& result);

// kRealOrigin, "simulated" or "real and simulated".
inline constexpr char kRealOrigin[] = "real";
std::string OriginOf(absl::Span<const TestRun> runs);

// Whether some of the runs are simulated and others are not: what is added up
// over them would be neither.
bool MixesOrigins(absl::Span<const TestRun> runs);

// Whether simulated runs have the same seed: they are copies of each other, and
// that they agree says nothing.
bool ShareSeeds(absl::Span<const TestRun> runs);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_ORIGIN_H_
