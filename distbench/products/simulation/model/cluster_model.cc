#include "distbench/products/simulation/model/cluster_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/work_random.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/products/simulation/model/layouts.h"
#include "distbench/products/simulation/model/read_fabric.h"
#include "distbench/products/simulation/model/reference_costs.h"
#include "glog/logging.h"
#include "google/protobuf/text_format.h"

namespace distbench::simulation {
namespace {

// Keeps the choice of slow hosts apart from the seed's other uses.
constexpr uint64_t kSlowHostStream = 0x51;

// Hosts that are chosen to be slow, and as fast as the others by default, would
// make a sweep over their share one of equal points. `fabric`: as given.
void CheckSlowness(const SimulatedFabric& fabric, config::Problems& problems) {
  const SimulatedHost& host = fabric.host();
  if (!(host.slow_share() > 0) || host.has_slowness()) return;
  problems.Add(config::Path("host").Field("slowness"),
               "is missing; must be how many times as long everything takes "
               "on the slow hosts (slow_share)");
}

std::vector<double> DrawSlowness(const SimulatedHost& host, int host_count,
                                 uint64_t seed) {
  std::vector<double> slowness(host_count, 1);
  std::vector<int> hosts(host_count);
  std::iota(hosts.begin(), hosts.end(), 0);
  base::WorkRandom random(seed, kSlowHostStream);
  const auto slow_count =
      static_cast<int>(std::lround(host.slow_share() * host_count));
  // The beginning of a Fisher-Yates shuffle.
  for (int i = 0; i < slow_count; ++i) {
    std::swap(hosts[i], hosts[i + random.Below(host_count - i)]);
    slowness[hosts[i]] = host.slowness();
  }
  return slowness;
}

void LayOutNetwork(ClusterModel& model, config::Problems& problems) {
  if (model.fabric.has_leaf_spine()) {
    LayOutLeafSpine(model, problems);
  } else if (model.fabric.has_graph()) {
    LayOutGraph(model, problems);
  } else {
    LayOutSingleSwitch(model);
  }
  for (int host = static_cast<int>(model.host_names.size());
       host < model.host_count; ++host) {
    model.host_names.push_back(absl::StrCat("host", host));
  }
}

// A model, as far as it can be made, with equally fast hosts.
ClusterModel CheckedModel(const SimulatedFabric& fabric, int host_count,
                          uint64_t seed, config::Problems& problems) {
  ClusterModel model;
  model.fabric = fabric;
  model.host_count = host_count;
  model.seed = seed;
  FillInDefaults(model.fabric);
  config::CheckRange(config::Path("host_count"), host_count, 1,
                     kMaxSimulatedHosts, problems);
  CheckFabric(model.fabric, problems);
  // Wrong sizes would make wrong layouts; a graph only has names and links.
  if (problems.count() == 0 || (fabric.has_graph() && host_count > 0)) {
    LayOutNetwork(model, problems);
  }
  return model;
}

}  // namespace

std::vector<config::Problem> ProblemsOf(const SimulatedFabric& fabric) {
  config::Problems problems;
  CheckedModel(fabric, /*host_count=*/1, /*seed=*/0, problems);
  return std::move(problems).Take();
}

absl::StatusOr<ClusterModel> MakeClusterModel(const SimulatedFabric& fabric,
                                              int host_count, uint64_t seed) {
  config::Problems problems;
  CheckSlowness(fabric, problems);
  ClusterModel model = CheckedModel(fabric, host_count, seed, problems);
  if (problems.count() > 0) return config::ToStatus(std::move(problems).Take());
  model.slowness = DrawSlowness(model.fabric.host(), host_count, seed);
  const auto by_delay = [](const LinkModel& a, const LinkModel& b) {
    return a.delay_ns < b.delay_ns;
  };
  model.min_delay_ns =
      std::min_element(model.links.begin(), model.links.end(), by_delay)
          ->delay_ns;
  return model;
}

namespace {

const SimulatedFabric& ReferenceCosts() {
  static const SimulatedFabric* const costs = [] {
    auto* const fabric = new SimulatedFabric;
    // Part of the program, and parsed by a test.
    CHECK(google::protobuf::TextFormat::ParseFromString(
        std::string(kReferenceCostsTextproto), fabric));
    return fabric;
  }();
  return *costs;
}

const StackCosts* FindCosts(const SimulatedFabric& fabric,
                            absl::string_view driver) {
  for (const StackCosts& costs : fabric.stacks()) {
    if (costs.driver() == driver) return &costs;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<StackCosts> CostsOfDriver(const SimulatedFabric& fabric,
                                         absl::string_view driver) {
  const StackCosts* costs = FindCosts(fabric, driver);
  if (costs == nullptr) costs = FindCosts(ReferenceCosts(), driver);
  if (costs != nullptr) return *costs;
  std::vector<std::string> known;
  for (const SimulatedFabric* each : {&fabric, &ReferenceCosts()}) {
    for (const StackCosts& stack : each->stacks()) {
      known.push_back(stack.driver());
    }
  }
  return absl::NotFoundError(absl::StrCat(
      "nothing says what RPCs of the driver ", config::Quoted(driver),
      " cost; add them to the fabric (stacks), or use one of ",
      config::QuotedList(known, static_cast<int>(known.size()))));
}

absl::StatusOr<ActivityCosts> CostsOfActivity(const SimulatedFabric& fabric,
                                              absl::string_view activity,
                                              absl::string_view name) {
  const ActivityCosts* of_all = nullptr;
  for (const ActivityCosts& costs : fabric.activities()) {
    if (costs.activity() != activity) continue;
    if (costs.name() == name) return costs;
    if (costs.name().empty()) of_all = &costs;
  }
  if (of_all != nullptr) return *of_all;
  return absl::NotFoundError(absl::StrCat(
      config::Path("activity_configs").At(name).text(),
      ": nothing says how much CPU time an iteration takes; add to the fabric "
      "what `distbench calibrate` measures: activities { activity: ",
      config::Quoted(activity), " name: ", config::Quoted(name),
      " cpu_ns: ... }"));
}

}  // namespace distbench::simulation
