// How much the traffic of an imported config is like that of the traces.

#ifndef DISTBENCH_IMPORT_FIDELITY_H_
#define DISTBENCH_IMPORT_FIDELITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/import/config_names.h"
#include "distbench/import/traces/traffic_model.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// A figure of the traces, and of the config on simulated time.
struct Compared {
  double traces = 0;
  double simulated = 0;
};

struct RpcFidelity {
  std::string rpc;  // its name in the config
  Compared calls_per_arrival;

  // Time at the server, with the RPCs that it waits for.
  Compared mean_us;
  Compared p99_us;

  // The Kolmogorov-Smirnov distance of the two distributions of that time: the
  // largest difference of their cumulative probabilities, from 0 to 1.
  double latency_distance = 0;
};

struct Fidelity {
  Compared arrivals_per_second;
  Compared calls_per_trace;
  double size_distance = 0;       // of calls per trace; Kolmogorov-Smirnov
  double depth_distance = 0;      // of levels per trace; the same
  std::vector<RpcFidelity> rpcs;  // the largest latency_distance first
};

// Runs the test on simulated time, whose network takes none, traces all of its
// RPCs, imports these traces, and compares. Only the beginning of a long test
// is run. Requires a canonical test of this model and these names. INTERNAL if
// the test does not run to its end.
absl::StatusOr<Fidelity> MeasureFidelity(
    const TrafficModel& model, const ConfigNames& names,
    const DistributedSystemDescription& test);

// Runs a test as above, and returns its traces, as `distbench report
// --format=otlp` writes them.
absl::StatusOr<std::string> SimulatedTraces(DistributedSystemDescription test,
                                            uint64_t seed);

}  // namespace distbench

#endif  // DISTBENCH_IMPORT_FIDELITY_H_
