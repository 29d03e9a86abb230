// Findings on simulations: how far they can be believed.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/products/simulation/report/simulation_report.h"
#include "distbench/report/measurements/origin.h"

namespace distbench::simulation {
namespace {

// What the test asks for and simulated hosts do not have.
std::vector<std::string> NotSimulated(
    const DistributedSystemDescription& test) {
  std::vector<std::string> parts;
  if (test.requirements().facts_size() > 0) parts.push_back("requirements");
  if (test.controls().groups_size() > 0) parts.push_back("controls");
  if (std::any_of(test.services().begin(), test.services().end(),
                  [](const ServiceSpec& service) {
                    return service.has_numa_binding();
                  })) {
    parts.push_back("numa_binding");
  }
  return parts;
}

}  // namespace

void JudgeSimulation(const TestResult& result, report::FindingList& findings) {
  if (!report::IsSimulated(result)) return;
  for (const std::string& reason :
       result.simulation().outside_of_validation()) {
    findings.Add(
        Finding::WARN, "simulation",
        absl::StrCat(
            "outside of what was validated: ", reason,
            ". The figures may be far off (docs/products/simulation.md)"));
  }
  for (const std::string& errors : result.simulation().known_errors()) {
    findings.Add(
        Finding::WARN, "simulation",
        absl::StrCat("simulations like this one were this far off when they "
                     "were compared with real runs "
                     "(docs/products/simulation_validation.md): ",
                     errors));
  }
  const std::vector<std::string> parts = NotSimulated(result.traffic_config());
  if (!parts.empty()) {
    findings.Add(Finding::WARN, "simulation",
                 absl::StrCat("simulated hosts do not have what the test asks "
                              "for by ",
                              absl::StrJoin(parts, ", "),
                              "; the run is that of a test without"));
  }
}

}  // namespace distbench::simulation
