#include <google/protobuf/text_format.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/products/simulation/report/simulation_report.h"
#include "distbench/report/measurements/origin.h"
#include "distbench/report/text/failure_lines.h"

namespace distbench::simulation {

namespace {

nlohmann::ordered_json NetworkJson(const SimulationFacts& simulation) {
  if (!simulation.has_network()) return nullptr;
  const SimulatedNetworkCounts& network = simulation.network();
  return {{"packets", network.packets()},
          {"dropped", network.dropped()},
          {"marked", network.marked()},
          {"retransmissions", network.retransmissions()},
          {"timeouts", network.timeouts()}};
}

}  // namespace

nlohmann::ordered_json SimulationJson(const TestResult& result) {
  if (!report::IsSimulated(result)) return nullptr;
  const SimulationFacts& simulation = result.simulation();
  std::string fabric;
  google::protobuf::TextFormat::PrintToString(simulation.fabric(), &fabric);
  nlohmann::ordered_json json = {
      {"summary", DescribeSimulation(simulation)},
      {"host_count", simulation.host_count()},
      {"event_count", simulation.event_count()},
      {"simulated_seconds", simulation.simulated_seconds()},
      {"assumptions", nlohmann::ordered_json::array()},
      {"outside_of_validation", simulation.outside_of_validation()},
      {"known_errors", simulation.known_errors()},
      {"fabric", fabric},
      {"network", NetworkJson(simulation)}};
  for (const Assumption& assumption : AssumptionsOf(simulation)) {
    json["assumptions"].push_back(
        {{"subject", assumption.subject}, {"text", assumption.text}});
  }
  return json;
}

// Names and sources come from files of users.
std::vector<std::string> AssumptionLines(const TestResult& result) {
  if (!report::IsSimulated(result)) return {};
  const SimulationFacts& simulation = result.simulation();
  std::vector<std::string> lines;
  for (const Assumption& assumption : AssumptionsOf(simulation)) {
    lines.push_back(absl::StrCat("  ", report::OneLine(assumption.subject),
                                 ": ", report::OneLine(assumption.text)));
  }
  lines.push_back(absl::StrFormat(
      "  extent: %d events in %.4g s of simulated time",
      simulation.event_count(), simulation.simulated_seconds()));
  if (simulation.has_network()) {
    lines.push_back(
        absl::StrCat("  sent: ", PacketsText(simulation.network())));
  }
  return lines;
}

}  // namespace distbench::simulation
