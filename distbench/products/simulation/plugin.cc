// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include <memory>
#include <string>
#include <vector>

#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/cli/test_simulation.h"
#include "distbench/products/simulation/command.h"
#include "distbench/products/simulation/report/page_files.h"
#include "distbench/products/simulation/report/simulation_report.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/report/parts/text_part.h"

namespace distbench::simulation {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct(
    "simulation", new base::Product{"Runs tests on simulated hosts"});

const base::Plugin<Command> kCommand("simulate",
                                     new Command{HelpSection::kTests,
                                                 AddSimulateCommand});

// For commands of other products that can simulate their tests.
std::unique_ptr<cli::SimulationOptions> MakeOptions() {
  return std::make_unique<SimulationFlags>();
}

const base::Plugin<cli::TestSimulation> kSimulation("simulation",
                                                    new cli::TestSimulation{
                                                        MakeOptions});

// What simulations add to reports.

base::Json ValueOf(const TestResult& result, const report::JsonLimits&) {
  return SimulationJson(result);
}

std::vector<std::string> OpeningOf(const TestResult& result) {
  if (!report::IsSimulated(result)) return {};
  return {DescribeSimulation(result.simulation())};
}

const base::Plugin<report::FindingRule> kRule(
    "simulation", new report::FindingRule{JudgeSimulation, {"simulation"}});

const base::Plugin<report::TestKey> kKey("simulation",
                                         new report::TestKey{{"admission"},
                                                             ValueOf});

const base::Plugin<report::SummarySection> kSection(
    "Simulation", new report::SummarySection{
                      {"Driver counters"}, AssumptionLines, OpeningOf});

const base::Plugin<report::PagePart> kPage("simulation",
                                           new report::PagePart{{"findings"},
                                                                kSimulationHtml,
                                                                kSimulationJs});

}  // namespace
}  // namespace distbench::simulation
