#ifndef DISTBENCH_REPORT_JSON_JSON_NODES_H_
#define DISTBENCH_REPORT_JSON_JSON_NODES_H_

#include <nlohmann/json.hpp>

#include "proto/results.pb.h"

namespace distbench {

// Describes the nodes and the sequencer: facts about them and their resource
// usage.
nlohmann::ordered_json NodesJson(const TestResult& result);

// Lists the bindings of instances, and the CPUs and memory that they actually
// used, by node and instance.
nlohmann::ordered_json BindingsJson(const TestResult& result);

// Lists the node of each instance.
nlohmann::ordered_json PlacementJson(const TestResult& result);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_JSON_JSON_NODES_H_
