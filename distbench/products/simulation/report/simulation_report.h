// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What reports say about simulations: what was assumed, and how far they can be
// believed.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_REPORT_SIMULATION_REPORT_H_
#define DISTBENCH_PRODUCTS_SIMULATION_REPORT_SIMULATION_REPORT_H_

#include <string>
#include <vector>

#include "distbench/base/json.h"
#include "distbench/report/parts/finding_rule.h"
#include "proto/results.pb.h"

namespace distbench::simulation {

// One line, such as "Simulated, not measured: 100 hosts of 8 CPUs, leaf-spine
// network".
std::string DescribeSimulation(const SimulationFacts& simulation);

// Findings on a simulated run; none on others.
void JudgeSimulation(const TestResult& result, report::FindingList& findings);

// The key "simulation" of a test. Null if its hosts were real.
base::Json SimulationJson(const TestResult& result);

// The section "Simulation" of a summary. Empty if the hosts were real.
std::vector<std::string> AssumptionLines(const TestResult& result);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_REPORT_SIMULATION_REPORT_H_
