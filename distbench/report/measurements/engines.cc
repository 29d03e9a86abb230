// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/engines.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/results/engine_text.h"

namespace distbench::report {
namespace {

constexpr char kOwnProgram[] = "own program";

// What is known of the program that hosts the instance.
std::string TextOf(const ResourceUsageLogs& usage,
                   const ServiceEndpoint& endpoint) {
  const bool is_own = endpoint.engine().empty();
  EngineProgram program;
  program.set_name(is_own ? kOwnProgram : endpoint.engine());
  const auto node = usage.node_resources().find(endpoint.node_alias());
  if (node == usage.node_resources().end()) return results::EngineText(program);
  if (is_own) {
    *program.mutable_versions() = node->second.host().versions();
    return results::EngineText(program);
  }
  for (const EngineProgram& engine : node->second.engines()) {
    if (engine.name() == program.name()) return results::EngineText(engine);
  }
  return results::EngineText(program);
}

}  // namespace

std::vector<EngineUse> EnginesOf(const TestResult& result) {
  const auto& endpoints = result.placement().service_endpoints();
  if (absl::c_all_of(endpoints, [](const auto& entry) {
        return entry.second.engine().empty();
      })) {
    return {};
  }
  std::map<std::string, EngineUse> uses;
  for (const auto& [instance, endpoint] : endpoints) {
    EngineUse& use = uses[endpoint.engine()];
    use.name = endpoint.engine();
    ++use.instance_counts[config::ServiceOf(instance)];
    use.texts.insert(TextOf(result.resource_usage_logs(), endpoint));
  }
  std::vector<EngineUse> sorted;
  for (auto& [name, use] : uses) sorted.push_back(std::move(use));
  return sorted;
}

}  // namespace distbench::report
