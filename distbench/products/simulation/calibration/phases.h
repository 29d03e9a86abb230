// The phases of a calibration: what its RPCs cost while only one of them ran.
//
//   samples of CPU time, one per second and node ─┐
//   counts of each RPC, one per second ───────────┴▶ CPU time per RPC, in those
//       samples during which only that RPC ran ──▶ mean and standard error

#ifndef DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_PHASES_H_
#define DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_PHASES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench::simulation {

// A mean with its standard error, which is 0 if it is not known.
struct Estimate {
  double value = 0;
  double error = 0;
};

struct CalibrationPhase {
  std::string rpc_name;
  int in_flight = 1;
  double request_bytes = 0;  // per RPC
  double response_bytes = 0;
  double seconds = 0;

  // CPU time per RPC, in nanoseconds, of the client's node and the server's.
  Estimate client_cpu_ns;
  Estimate server_cpu_ns;

  // How often threads of these nodes slept, per RPC.
  Estimate client_sleeps;
  Estimate server_sleeps;

  stats::LogHistogram service_time_ns;
};

// FAILED_PRECONDITION, with the remedy.
absl::Status CalibrationLacks(absl::string_view what);

// The two nodes of a calibration.
struct CalibrationNodes {
  std::string client;
  std::string server;
  bool is_same_host = false;
};

// FAILED_PRECONDITION says what the result lacks.
absl::StatusOr<CalibrationNodes> NodesOfCalibration(const TestResult& result);

// The result's closed loops, in the order of the test's RPCs.
// FAILED_PRECONDITION says what the result lacks.
absl::StatusOr<std::vector<CalibrationPhase>> PhasesOfCalibration(
    const TestResult& result, const CalibrationNodes& nodes);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_CALIBRATION_PHASES_H_
