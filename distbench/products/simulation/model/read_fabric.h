// From texts to a checked fabric: its rules and defaults.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_MODEL_READ_FABRIC_H_
#define DISTBENCH_PRODUCTS_SIMULATION_MODEL_READ_FABRIC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/config/problems/problem.h"
#include "proto/simulation.pb.h"

namespace distbench::simulation {

// Enough for any cluster, and few enough for the model to fit into memory.
inline constexpr int kMaxSimulatedHosts = 1'000'000;
inline constexpr int kMaxSimulatedSwitches = 10'000;  // of a graph
inline constexpr int64_t kMaxSimulatedLinks = 10'000'000;

// Puts the defaults into all fields that are missing, except for those of
// stacks and activities, which are zero or not known where they are missing.
void FillInDefaults(SimulatedFabric& fabric);

// Adds what is wrong with a fabric whose defaults are filled in. The switches
// and links of a graph are checked where it is laid out (layouts.h).
void CheckFabric(const SimulatedFabric& fabric, config::Problems& problems);

void CheckLink(const config::Path& path, const SimulatedLink& link,
               config::Problems& problems);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_MODEL_READ_FABRIC_H_
