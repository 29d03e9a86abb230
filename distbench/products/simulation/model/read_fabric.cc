#include "distbench/products/simulation/model/read_fabric.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/base/files.h"
#include "distbench/base/hostlist.h"
#include "distbench/base/time_units.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/product_words.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/reading/config_text.h"
#include "distbench/config/reading/load.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "glog/logging.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::simulation {
namespace {

constexpr int64_t kMaxDelayNs = 10 * base::kNsPerSecond;
constexpr double kMinGbps = 1e-6;  // 1 kbit/s
constexpr double kMaxGbps = 1e9;
constexpr double kMaxCostNs = 1e12;
constexpr double kMaxSigma = 5;

// Sets the numbers and enumerations that are not set, to their own values.
void SetNumbers(google::protobuf::Message& message) {
  using Field = google::protobuf::FieldDescriptor;
  const auto& reflection = *message.GetReflection();
  const auto& descriptor = *message.GetDescriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const Field* field = descriptor.field(i);
    if (field->is_repeated() || reflection.HasField(message, field)) continue;
    switch (field->cpp_type()) {
      case Field::CPPTYPE_INT32:
        reflection.SetInt32(&message, field,
                            reflection.GetInt32(message, field));
        break;
      case Field::CPPTYPE_INT64:
        reflection.SetInt64(&message, field,
                            reflection.GetInt64(message, field));
        break;
      case Field::CPPTYPE_DOUBLE:
        reflection.SetDouble(&message, field,
                             reflection.GetDouble(message, field));
        break;
      case Field::CPPTYPE_ENUM:
        reflection.SetEnum(&message, field, reflection.GetEnum(message, field));
        break;
      default:
        break;  // names and messages
    }
  }
}

// False for numbers that are not finite.
bool IsWithin(double value, double minimum, double maximum) {
  return value >= minimum && value <= maximum;
}

void CheckNumber(const config::Path& path, double value, double minimum,
                 double maximum, config::Problems& problems) {
  if (IsWithin(value, minimum, maximum)) return;
  problems.Add(path, absl::StrCat("is ", value, "; must be between ", minimum,
                                  " and ", maximum));
}

void CheckHost(const SimulatedHost& host, config::Problems& problems) {
  const config::Path path("host");
  config::CheckRange(path.Field("cpus"), host.cpus(), 1, 4096, problems);
  CheckNumber(path.Field("stalls_per_second"), host.stalls_per_second(), 0, 1e6,
              problems);
  CheckNumber(path.Field("mean_stall_ns"), host.mean_stall_ns(), 0, kMaxCostNs,
              problems);
  const double stalled =
      host.stalls_per_second() * host.mean_stall_ns() / base::kNsPerSecond;
  if (stalled >= 1) {
    problems.Add(path.Field("mean_stall_ns"),
                 absl::StrCat("with stalls_per_second, stalls take ", stalled,
                              " of the time; must be less than 1"));
  }
  CheckNumber(path.Field("slow_share"), host.slow_share(), 0, 1, problems);
  CheckNumber(path.Field("slowness"), host.slowness(), 1, 1e6, problems);
}

void CheckLeafSpine(const SimulatedLeafSpine& leaf_spine,
                    config::Problems& problems) {
  const config::Path path("leaf_spine");
  config::CheckRange(path.Field("hosts_per_leaf"), leaf_spine.hosts_per_leaf(),
                     1, kMaxSimulatedHosts, problems);
  config::CheckRange(path.Field("spines"), leaf_spine.spines(), 1,
                     kMaxSimulatedSwitches, problems);
  CheckLink(path.Field("host_link"), leaf_spine.host_link(), problems);
  CheckLink(path.Field("spine_link"), leaf_spine.spine_link(), problems);
}

void CheckCost(const config::Path& path, const StackCosts::Cost& cost,
               config::Problems& problems) {
  CheckNumber(path.Field("fixed_ns"), cost.fixed_ns(), 0, kMaxCostNs, problems);
  CheckNumber(path.Field("ns_per_byte"), cost.ns_per_byte(), 0, 1e6, problems);
  CheckNumber(path.Field("batch_ns"), cost.batch_ns(), 0, kMaxCostNs, problems);
  CheckNumber(path.Field("after_ns"), cost.after_ns(), 0, kMaxCostNs, problems);
}

// A driver or activity of a product that this program lacks may have costs.
void CheckStacks(const SimulatedFabric& fabric, config::Problems& problems) {
  std::vector<std::string> names;
  for (const config::DriverDeclaration& driver : config::DriverCatalog()) {
    names.push_back(driver.name);
  }
  std::set<std::string> seen;
  for (int i = 0; i < fabric.stacks_size(); ++i) {
    const StackCosts& costs = fabric.stacks(i);
    const config::Path path = config::Path("stacks").At(i);
    if (config::FindDriver(costs.driver()) == nullptr &&
        config::ProductOfWord(costs.driver()).empty()) {
      problems.Add(
          path.Field("driver"),
          absl::StrCat(config::Quoted(costs.driver()), " is not a driver; ",
                       config::Suggestion(costs.driver(), names)));
    } else if (!seen.insert(costs.driver()).second) {
      problems.Add(path.Field("driver"),
                   absl::StrCat(config::Quoted(costs.driver()),
                                " has costs already; keep one entry"));
    }
    CheckCost(path.Field("client_send"), costs.client_send(), problems);
    CheckCost(path.Field("server_receive"), costs.server_receive(), problems);
    CheckCost(path.Field("server_send"), costs.server_send(), problems);
    CheckCost(path.Field("client_receive"), costs.client_receive(), problems);
    CheckNumber(path.Field("wakeup_ns"), costs.wakeup_ns(), 0, kMaxCostNs,
                problems);
    CheckNumber(path.Field("wakeup_cpu_ns"), costs.wakeup_cpu_ns(), 0,
                kMaxCostNs, problems);
    CheckNumber(path.Field("sigma"), costs.sigma(), 0, kMaxSigma, problems);
    config::CheckRange(path.Field("same_host_delay_ns"),
                       costs.same_host_delay_ns(), 0, kMaxDelayNs, problems);
  }
}

void CheckActivities(const SimulatedFabric& fabric,
                     config::Problems& problems) {
  std::set<std::pair<std::string, std::string>> seen;
  for (int i = 0; i < fabric.activities_size(); ++i) {
    const ActivityCosts& costs = fabric.activities(i);
    const config::Path path = config::Path("activities").At(i);
    const config::ActivityDeclaration* activity =
        config::FindActivity(costs.activity());
    if (activity == nullptr &&
        config::ProductOfWord(costs.activity()).empty()) {
      problems.Add(
          path.Field("activity"),
          absl::StrCat(
              config::Quoted(costs.activity()), " is not an activity; ",
              config::Suggestion(costs.activity(), config::ActivityNames())));
    } else if (activity != nullptr && activity->waits) {
      problems.Add(path.Field("activity"),
                   absl::StrCat(config::Quoted(costs.activity()),
                                " only waits, and needs no CPU time; leave it "
                                "out"));
    } else if (!seen.emplace(costs.activity(), costs.name()).second) {
      problems.Add(path, "repeats an entry above; keep one of them");
    }
    if (!costs.has_cpu_ns()) {
      problems.Add(path.Field("cpu_ns"),
                   "is missing; must be the CPU time of an iteration");
    }
    CheckNumber(path.Field("cpu_ns"), costs.cpu_ns(), 0, kMaxCostNs, problems);
    CheckNumber(path.Field("sigma"), costs.sigma(), 0, kMaxSigma, problems);
  }
}

}  // namespace

void FillInDefaults(SimulatedFabric& fabric) {
  SetNumbers(*fabric.mutable_host());
  switch (fabric.network_case()) {
    case SimulatedFabric::NETWORK_NOT_SET:
    case SimulatedFabric::kSingleSwitch:
      SetNumbers(*fabric.mutable_single_switch()->mutable_host_link());
      break;
    case SimulatedFabric::kLeafSpine:
      SetNumbers(*fabric.mutable_leaf_spine());
      SetNumbers(*fabric.mutable_leaf_spine()->mutable_host_link());
      SetNumbers(*fabric.mutable_leaf_spine()->mutable_spine_link());
      break;
    case SimulatedFabric::kGraph:
      for (auto& each : *fabric.mutable_graph()->mutable_switches()) {
        SetNumbers(*each.mutable_host_link());
      }
      for (auto& each : *fabric.mutable_graph()->mutable_links()) {
        SetNumbers(*each.mutable_link());
      }
      break;
  }
}

void CheckLink(const config::Path& path, const SimulatedLink& link,
               config::Problems& problems) {
  CheckNumber(path.Field("gbps"), link.gbps(), kMinGbps, kMaxGbps, problems);
  config::CheckRange(path.Field("delay_ns"), link.delay_ns(), 1, kMaxDelayNs,
                     problems);
}

void CheckFabric(const SimulatedFabric& fabric, config::Problems& problems) {
  CheckHost(fabric.host(), problems);
  if (fabric.has_single_switch()) {
    CheckLink(config::Path("single_switch").Field("host_link"),
              fabric.single_switch().host_link(), problems);
  }
  if (fabric.has_leaf_spine()) CheckLeafSpine(fabric.leaf_spine(), problems);
  CheckStacks(fabric, problems);
  CheckActivities(fabric, problems);
}

absl::StatusOr<SimulatedFabric> ReadFabric(const std::string& path) {
  absl::StatusOr<std::string> contents = base::ReadFile(path);
  if (!contents.ok()) return contents.status();
  if (absl::EndsWith(path, ".conf")) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": topologies of Slurm are no longer read; write the switches as a "
        "fabric: graph { switches { name: \"leaf0\" hosts: \"node[0-31]\" } ",
        "... } (docs/products/simulation_fabric.md)"));
  }
  SimulatedFabric fabric;
  absl::Status status = config::ParseAnyText(*contents, path, fabric);
  if (!status.ok()) return status;
  status = config::ToStatus(ProblemsOf(fabric), {path, *std::move(contents)},
                            fabric);
  if (!status.ok()) return status;
  return fabric;
}

}  // namespace distbench::simulation
