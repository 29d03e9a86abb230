// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/host_lacks.h"

#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/text_table.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/requirements/host_requirements.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/node/instance_bindings.h"

namespace distbench::node {
namespace {

// A message names this many instances, and only counts the others.
constexpr size_t kMostNamed = 3;

void AddUnmetRequirements(const HostRequirements& requirements,
                          const HostFacts& facts,
                          std::vector<HostLack>& lacks) {
  if (requirements.facts().empty()) return;
  const absl::Status status = CheckRequirements(requirements, facts);
  if (status.ok()) return;
  lacks.push_back({std::string(status.message()), requirements.strict()});
}

// The instances of one service that the node would host, by their numbers.
using Hosted = std::map<int, std::string>;

Hosted InstancesHere(const ServiceSpec& service,
                     const std::set<std::string>& instances) {
  Hosted hosted;
  int number = 0;
  for (std::string& name : config::InstanceNames(service)) {
    if (instances.contains(name)) hosted[number] = std::move(name);
    ++number;
  }
  return hosted;
}

void AddImpossibleBindings(const ServiceSpec& service, const Hosted& hosted,
                           const HostTopology& topology,
                           std::vector<HostLack>& lacks) {
  if (!service.has_numa_binding()) return;
  std::map<std::string, std::vector<std::string>> instances_by_problem;
  for (const auto& [number, name] : hosted) {
    const absl::Status status =
        CheckBinding(service.numa_binding(), number, topology);
    if (status.ok()) continue;
    instances_by_problem[std::string(status.message())].push_back(name);
  }
  for (const auto& [problem, instances] : instances_by_problem) {
    lacks.push_back(
        {absl::StrCat(base::JoinSome(instances, kMostNamed, ", ", " and "),
                      ": ", problem),
         service.numa_binding().strict()});
  }
}

// The program that hosts services with an engine of that name; that of the node
// for no name. Null if the node has no such engine, which placement says.
struct Program {
  std::string name;
  const google::protobuf::RepeatedPtrField<std::string>* drivers = nullptr;
};

Program ProgramOf(const std::string& engine, const NodeRegistration& node) {
  if (engine.empty()) return {"its program", &node.drivers()};
  for (const EngineProgram& program : node.engines()) {
    if (program.name() != engine) continue;
    return {absl::StrCat("its engine \"", engine, "\""), &program.drivers()};
  }
  return {};
}

void AddMissingDrivers(const std::vector<config::ResolvedDriver>& drivers,
                       const std::string& service, const NodeRegistration& node,
                       std::vector<HostLack>& lacks) {
  const Program program = ProgramOf(config::EngineOf(drivers), node);
  if (program.drivers == nullptr || program.drivers->empty()) return;
  for (const config::ResolvedDriver& each : drivers) {
    const std::string& driver = each.driver->name;
    if (absl::c_linear_search(*program.drivers, driver)) continue;
    lacks.push_back({absl::StrCat(
        service, ": ", program.name, " lacks the protocol driver ", driver,
        "; it has ", absl::StrJoin(*program.drivers, ", "),
        ". Build it with that driver, or use another protocol")});
  }
}

}  // namespace

bool SaysWhatItHas(const NodeRegistration& node) { return node.has_host(); }

absl::Status CheckRequirements(const HostRequirements& requirements,
                               const HostFacts& facts) {
  const std::vector<std::string> unmet =
      config::UnmetRequirements(requirements, facts);
  if (unmet.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "its host does not meet the test's requirements: ",
      absl::StrJoin(unmet, "; "), ". Change the host",
      requirements.strict() ? ", use another one, or let the requirements be "
                              "warnings (strict: false)"
                            : " or use another one"));
}

std::vector<HostLack> FindLacks(const DistributedSystemDescription& test,
                                const std::vector<std::string>& instances,
                                const NodeRegistration& node,
                                const NodeExtensions& extensions) {
  HostFacts facts = node.host();
  *facts.mutable_topology() = node.topology();
  std::vector<HostLack> lacks;
  if (SaysWhatItHas(node)) {
    AddUnmetRequirements(test.requirements(), facts, lacks);
  }
  const config::TestNames names(test);
  const std::set<std::string> here(instances.begin(), instances.end());
  for (const ServiceSpec& service : test.services()) {
    const Hosted hosted = InstancesHere(service, here);
    if (hosted.empty()) continue;
    if (node.has_topology()) {
      AddImpossibleBindings(service, hosted, node.topology(), lacks);
    }
    AddMissingDrivers(config::DriversOf(test, names, service), service.name(),
                      node, lacks);
  }
  for (const auto& [name, product] : extensions) {
    for (HostLack& lack : product->FindLacks(facts, test, instances)) {
      lacks.push_back(std::move(lack));
    }
  }
  return lacks;
}

}  // namespace distbench::node
