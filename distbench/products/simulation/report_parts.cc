// What simulations add to reports.

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/plugins.h"
#include "distbench/products/simulation/report/page_files.h"
#include "distbench/products/simulation/report/simulation_report.h"
#include "distbench/report/measurements/origin.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/report/parts/json_part.h"
#include "distbench/report/parts/page_part.h"
#include "distbench/report/parts/text_part.h"

namespace distbench::simulation {
namespace {

absl::string_view AdviceFor(absl::string_view code) {
  if (code != "simulation") return "";
  return "Take the figures for a direction, not for a prediction. Measure a "
         "small part of the system for real, calibrate the costs by it "
         "(distbench simulate --calibrate_from), and compare it with its own "
         "simulation.";
}

nlohmann::ordered_json ValueOf(const TestResult& result,
                               const report::JsonLimits&) {
  return SimulationJson(result);
}

std::vector<std::string> OpeningOf(const TestResult& result) {
  if (!report::IsSimulated(result)) return {};
  return {DescribeSimulation(result.simulation())};
}

const base::Plugin<report::FindingRule> kRule("simulation",
                                              new report::FindingRule{
                                                  JudgeSimulation, AdviceFor});

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
