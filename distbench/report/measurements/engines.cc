// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/engines.h"

#include <utility>

#include "distbench/results/engine_text.h"

namespace distbench::report {
namespace {

constexpr char kOwnProgram[] = "own program";

// The program `name` of a node; nothing that is not known.
EngineProgram ProgramOf(const NodeResources& node, const std::string& name) {
  EngineProgram program;
  if (name.empty()) {
    program.set_name(kOwnProgram);
    *program.mutable_versions() = node.host().versions();
    return program;
  }
  for (const EngineProgram& engine : node.engines()) {
    if (engine.name() == name) return engine;
  }
  program.set_name(name);
  return program;
}

}  // namespace

std::vector<EngineUse> EnginesOf(const TestResult& result) {
  std::map<std::string, EngineUse> uses;
  const auto& nodes = result.resource_usage_logs().node_resources();
  for (const auto& [instance, endpoint] :
       result.placement().service_endpoints()) {
    EngineUse& use = uses[endpoint.engine()];
    use.name = endpoint.engine();
    ++use.instance_counts[instance.substr(0, instance.find('/'))];
    const auto node = nodes.find(endpoint.node_alias());
    use.texts.insert(results::EngineText(
        ProgramOf(node == nodes.end() ? NodeResources() : node->second,
                  endpoint.engine())));
  }
  std::vector<EngineUse> sorted;
  if (uses.size() == 1 && uses.begin()->first.empty()) return sorted;
  for (auto& [name, use] : uses) sorted.push_back(std::move(use));
  return sorted;
}

}  // namespace distbench::report
