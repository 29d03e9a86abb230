#include "distbench/products/simulation/cluster/simulated_cluster.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/version.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/products/simulation/calibration/model_validity.h"
#include "distbench/products/simulation/cluster/cluster_run.h"
#include "distbench/products/simulation/hosts/costs.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "distbench/products/simulation/model/fabric.h"
#include "distbench/products/simulation/model/used_driver.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/text/text_summary.h"
#include "distbench/sequencer/placement/placement.h"

namespace distbench::simulation {
namespace {

// As a sequencer describes real ones.
std::vector<sequencer::PlacementNode> MakeNodes(const ClusterModel& model) {
  const std::string cpus = absl::StrCat(model.fabric.host().cpus());
  std::vector<sequencer::PlacementNode> nodes;
  for (const std::string& hostname : model.host_names) {
    const std::string alias = absl::StrCat("node", nodes.size());
    nodes.push_back({.alias = alias,
                     .attributes = {{"node_alias", alias},
                                    {"hostname", hostname},
                                    {"cpu_count", cpus},
                                    {"numa_node_count", "1"}}});
  }
  return nodes;
}

// A node for each bundle, and one for each instance that is in none.
int HostsNeeded(const DistributedSystemDescription& test) {
  int instances = 0;
  for (const ServiceSpec& service : test.services()) {
    instances += static_cast<int>(config::InstanceNames(service).size());
  }
  int bundled = 0;
  for (const auto& [alias, bundle] : test.node_service_bundles()) {
    bundled += bundle.services_size();
  }
  return std::max(1, instances - bundled +
                         static_cast<int>(test.node_service_bundles_size()));
}

// What a simulation cannot do.
absl::Status CheckSupport(const DistributedSystemDescription& test) {
  for (const ServiceSpec& service : test.services()) {
    if (!config::IsOutside(service)) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "services[\"", service.name(),
        "\"].external: what runs elsewhere cannot be simulated; describe the "
        "service by action lists and activities, or run the test for real"));
  }
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    if (!rpc.has_stream()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("rpc_descriptions[\"", rpc.name(),
                     "\"].stream: RPCs that stream are not simulated; leave "
                     "`stream` out, or "
                     "run the test for real"));
  }
  if (test.has_controls() && test.controls().strict()) {
    return absl::FailedPreconditionError(
        "controls: control groups are not simulated; leave `controls` out, set "
        "controls.strict to false to ignore them, or run the test for real");
  }
  return absl::OkStatus();
}

// A test, and what it runs on.
struct PlacedTest {
  DistributedSystemDescription test;
  ClusterModel model;
  sequencer::Placement placement;
};

absl::StatusOr<PlacedTest> PlaceTest(
    const DistributedSystemDescription& description,
    const ClusterRunOptions& options) {
  PlacedTest placed;
  placed.test = description;
  DistributedSystemDescription& test = placed.test;
  if (!test.has_random_seed()) test.set_random_seed(1);
  if (absl::Status supported = CheckSupport(test); !supported.ok()) {
    return supported;
  }
  const int host_count =
      options.host_count > 0 ? options.host_count : HostsNeeded(test);
  absl::StatusOr<ClusterModel> model =
      MakeClusterModel(options.fabric, host_count, test.random_seed());
  if (!model.ok()) return model.status();
  placed.model = *std::move(model);

  const std::vector<sequencer::PlacementNode> nodes = MakeNodes(placed.model);
  absl::StatusOr<sequencer::Placement> placement =
      sequencer::PlaceInstances(test, nodes);
  if (!placement.ok()) {
    return absl::Status(placement.status().code(),
                        absl::StrCat("on ", host_count, " simulated hosts: ",
                                     placement.status().message()));
  }
  placed.placement = *std::move(placement);
  absl::Status resolved =
      sequencer::ResolveChannelMembers(nodes, placed.placement, test);
  if (!resolved.ok()) return resolved;
  return placed;
}

absl::Status CheckCosts(const SimulatedFabric& fabric,
                        const DistributedSystemDescription& test) {
  for (const ServiceSpec& service : test.services()) {
    absl::Status known =
        CostsOfDriver(fabric, UsedDriverOf(test, service).name).status();
    if (!known.ok()) return known;
  }
  return CostsOfActivities(fabric, config::Compile(test)).status();
}

void Conclude(TestResult& result) {
  for (Finding& finding : report::Judge(result)) {
    *result.mutable_run_info()->add_findings() = std::move(finding);
  }
  for (std::string& line : report::SummarizeTest(result)) {
    result.add_log_summary(std::move(line));
  }
}

}  // namespace

absl::Status CheckSimulatedTest(const DistributedSystemDescription& test,
                                const ClusterRunOptions& options) {
  const absl::StatusOr<PlacedTest> placed = PlaceTest(test, options);
  if (!placed.ok()) return placed.status();
  return CheckCosts(placed->model.fabric, placed->test);
}

absl::StatusOr<TestResult> RunSimulatedTest(
    const DistributedSystemDescription& description,
    const ClusterRunOptions& options) {
  const absl::StatusOr<PlacedTest> placed = PlaceTest(description, options);
  if (!placed.ok()) return placed.status();
  const DistributedSystemDescription& test = placed->test;
  TestResult result;
  *result.mutable_traffic_config() = test;
  RunInfo& info = *result.mutable_run_info();
  info.set_version(std::string(base::ProgramVersion()));
  info.set_random_seed(test.random_seed());
  info.set_config_hash(config::ConfigHash(test));
  ClusterRun run(test, placed->model, placed->placement, options);
  if (absl::Status set_up = run.SetUp(); !set_up.ok()) return set_up;
  run.RunTraffic();
  run.Collect(result);
  SimulationFacts& facts = *result.mutable_simulation();
  for (std::string& sentence :
       OutsideOfValidation(test, facts.fabric(), facts.host_count(), result)) {
    facts.add_outside_of_validation(std::move(sentence));
  }
  Conclude(result);
  return result;
}

}  // namespace distbench::simulation
