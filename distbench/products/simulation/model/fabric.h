// What a fabric (proto/simulation.proto) says: its defaults, its rules, and
// what RPCs and activities cost.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_MODEL_FABRIC_H_
#define DISTBENCH_PRODUCTS_SIMULATION_MODEL_FABRIC_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/config/problems/problem.h"
#include "proto/simulation.pb.h"

namespace distbench::simulation {

// Puts the defaults into all fields that are missing, except for those of
// stacks and activities, which are zero or not known where they are missing.
void FillInDefaults(SimulatedFabric& fabric);

// Adds what is wrong with a fabric, apart from the names in its graph.
void CheckFabric(const SimulatedFabric& fabric, config::Problems& problems);

// The costs of a driver's RPCs: those of the fabric if it has them, otherwise
// those of the reference machine (reference_costs.textproto). A decorator has
// none of its own: ask for the driver that it decorates. NOT_FOUND names the
// drivers that have costs.
absl::StatusOr<StackCosts> CostsOfDriver(const SimulatedFabric& fabric,
                                         absl::string_view driver);

// The costs of an activity that computes: those for the test's activity config
// of this name, otherwise those for all of this activity. NOT_FOUND names both
// and the remedy.
absl::StatusOr<ActivityCosts> CostsOfActivity(const SimulatedFabric& fabric,
                                              absl::string_view activity,
                                              absl::string_view name);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_MODEL_FABRIC_H_
