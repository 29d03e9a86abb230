#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "distbench/products/simulation/model/reference_costs.h"
#include "glog/logging.h"
#include "google/protobuf/text_format.h"

namespace distbench::simulation {
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
