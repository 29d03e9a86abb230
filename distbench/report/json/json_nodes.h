#ifndef DISTBENCH_REPORT_JSON_JSON_NODES_H_
#define DISTBENCH_REPORT_JSON_JSON_NODES_H_

#include <nlohmann/json.hpp>

#include "proto/results.pb.h"

namespace distbench {

// What RenderJson() says of the nodes that a test ran on, and of the sequencer:
// what they are and what they used.
nlohmann::ordered_json NodesJson(const TestResult& result);

// What instances were bound to, and which CPUs and memory they really used; by
// node and instance.
nlohmann::ordered_json BindingsJson(const TestResult& result);

// Where instances ran.
nlohmann::ordered_json PlacementJson(const TestResult& result);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_JSON_JSON_NODES_H_
