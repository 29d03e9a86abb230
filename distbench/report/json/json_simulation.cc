#include <google/protobuf/text_format.h>

#include "distbench/report/json/json_parts.h"
#include "distbench/report/measurements/simulated_runs.h"

namespace distbench::report {

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
  if (!IsSimulated(result)) return nullptr;
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

}  // namespace distbench::report
