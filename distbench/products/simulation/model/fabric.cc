#include "distbench/products/simulation/model/fabric.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/product_words.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/products/simulation/model/reference_costs.h"
#include "glog/logging.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"

namespace distbench::simulation {
namespace {

// ---- Defaults ---------------------------------------------------------------

// Sets the numbers and enumerations that are not set, to their own values, in
// the message and all messages that it may have.
void FillIn(google::protobuf::Message& message) {
  using Field = google::protobuf::FieldDescriptor;
  const auto& reflection = *message.GetReflection();
  const auto& descriptor = *message.GetDescriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const Field* field = descriptor.field(i);
    if (field->is_repeated()) {
      if (field->message_type() == nullptr) continue;
      for (int k = 0; k < reflection.FieldSize(message, field); ++k) {
        FillIn(*reflection.MutableRepeatedMessage(&message, field, k));
      }
      continue;
    }
    switch (field->cpp_type()) {
      case Field::CPPTYPE_MESSAGE:
        FillIn(*reflection.MutableMessage(&message, field));
        break;
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
        break;  // names
    }
  }
}

}  // namespace

void FillInDefaults(SimulatedFabric& fabric) {
  FillIn(*fabric.mutable_host());
  switch (fabric.network_case()) {
    case SimulatedFabric::kLeafSpine:
      FillIn(*fabric.mutable_leaf_spine());
      break;
    case SimulatedFabric::kGraph:
      FillIn(*fabric.mutable_graph());
      break;
    case SimulatedFabric::kSingleSwitch:
    case SimulatedFabric::NETWORK_NOT_SET:
      FillIn(*fabric.mutable_single_switch());
      break;
  }
}

// ---- Rules that are not those of single fields ------------------------------

namespace {

// A driver or activity of a product that this program lacks may have costs.
void CheckStacks(const SimulatedFabric& fabric, config::Problems& problems) {
  std::vector<std::string> names;
  for (const config::DriverDeclaration& driver : config::DriverCatalog()) {
    names.push_back(driver.name);
  }
  std::set<std::string> seen;
  for (int i = 0; i < fabric.stacks_size(); ++i) {
    const std::string& driver = fabric.stacks(i).driver();
    const config::Path path = config::Path("stacks").At(i).Field("driver");
    if (config::FindDriver(driver) == nullptr &&
        config::ProductOfWord(driver).empty()) {
      problems.Add(path, config::Quoted(driver), " is not a driver; ",
                   config::Suggestion(driver, names));
    } else if (!seen.insert(driver).second) {
      problems.Add(path, config::Quoted(driver),
                   " has costs already; keep one entry");
    }
  }
}

void CheckActivities(const SimulatedFabric& fabric,
                     config::Problems& problems) {
  std::set<std::pair<std::string, std::string>> seen;
  for (int i = 0; i < fabric.activities_size(); ++i) {
    const std::string& name = fabric.activities(i).activity();
    const config::Path path = config::Path("activities").At(i);
    const config::ActivityDeclaration* activity = config::FindActivity(name);
    if (activity == nullptr && config::ProductOfWord(name).empty()) {
      problems.Add(path.Field("activity"), config::Quoted(name),
                   " is not an activity; ",
                   config::Suggestion(name, config::ActivityNames()));
    } else if (activity != nullptr && activity->waits) {
      problems.Add(path.Field("activity"), config::Quoted(name),
                   " only waits, and needs no CPU time; leave it out");
    } else if (!seen.emplace(name, fabric.activities(i).name()).second) {
      problems.Add(path, "repeats an entry above; keep one of them");
    }
  }
}

}  // namespace

void CheckFabric(const SimulatedFabric& fabric, config::Problems& problems) {
  config::CheckFields(fabric, config::Path(), /*names=*/nullptr, problems);
  CheckStacks(fabric, problems);
  CheckActivities(fabric, problems);
}

// ---- Costs ------------------------------------------------------------------

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

}  // namespace

absl::StatusOr<StackCosts> CostsOfDriver(const SimulatedFabric& fabric,
                                         absl::string_view driver) {
  std::vector<std::string> known;
  for (const SimulatedFabric* each : {&fabric, &ReferenceCosts()}) {
    for (const StackCosts& stack : each->stacks()) {
      if (stack.driver() == driver) return stack;
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
