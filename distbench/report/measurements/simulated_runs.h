// Runs on simulated hosts. Nothing of them was measured, so every report says
// so: each format has the mark, and those for people also what was assumed.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_SIMULATED_RUNS_H_
#define DISTBENCH_REPORT_MEASUREMENTS_SIMULATED_RUNS_H_

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

// One line, such as "Simulated, not measured: 100 hosts of 8 CPUs, leaf-spine
// network, whole messages".
std::string DescribeSimulation(const SimulationFacts& simulation);

// A part of what a simulation assumed, such as "network", in words.
struct Assumption {
  std::string subject;
  std::string text;
};

// In the order in which people read them. Fabrics have defaults filled in.
std::vector<Assumption> AssumptionsOf(const SimulationFacts& simulation);

// What happened to packets, in words. Not assumed, and of each run by itself.
std::string PacketsText(const SimulatedNetworkCounts& network);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_SIMULATED_RUNS_H_
