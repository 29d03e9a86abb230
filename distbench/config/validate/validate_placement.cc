// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

// ---- Bundles and the instances of constraints -------------------------------

// The entries of a map, sorted by key, so that the order of problems is stable.
template <typename Map>
auto Sorted(const Map& map) {
  std::map<std::string, const typename Map::mapped_type*> sorted;
  for (const auto& [key, value] : map) sorted[key] = &value;
  return sorted;
}

// Whether the alias is "nodeN", with a number that a cluster may have.
bool IsNodeAlias(absl::string_view alias) {
  int number;
  if (!absl::ConsumePrefix(&alias, "node")) return false;
  return absl::SimpleAtoi(alias, &number) && number >= 0 &&
         number < kMaxNodes && alias == absl::StrCat(number);
}

// Explains why there is no such instance. Returns nothing if there is one.
std::optional<std::string> ExplainMissingInstance(
    const TestValidation& validation, const std::string& name) {
  const std::string missing =
      absl::StrCat("no instance is named ", Quoted(name), "; ");
  const auto parsed = ParseInstanceName(name);
  if (!parsed.has_value()) {
    return absl::StrCat(missing,
                        "instances have names such as \"service/0\", or "
                        "\"service/0/0\" on a grid");
  }
  if (validation.names().services.Find(parsed->service) == kNone) {
    return absl::StrCat(
        missing, "no service is named ", Quoted(parsed->service), ", ",
        Suggestion(parsed->service, validation.names().services.names()));
  }
  const auto found = validation.FindService(parsed->service);
  if (!found.has_value()) return std::nullopt;
  const Grid& grid = found->grid;
  if (InstanceNumber(grid, parsed->coordinates).has_value()) {
    return std::nullopt;
  }
  const int last = static_cast<int>(grid.Count()) - 1;
  return absl::StrCat(missing, "instances of that service go from ",
                      Quoted(InstanceName(parsed->service, grid, 0)), " to ",
                      Quoted(InstanceName(parsed->service, grid, last)));
}

void CheckBundles(const TestValidation& validation) {
  const Path bundles = validation.path().Field("node_service_bundles");
  std::map<std::string, std::string> alias_of;  // by instance
  for (const auto& [alias, bundle] :
       Sorted(validation.test().node_service_bundles())) {
    const Path path = bundles.At(alias);
    if (!IsNodeAlias(alias)) {
      validation.Add(path, Quoted(alias),
                     " is not a node; nodes are called \"node0\" to \"node",
                     kMaxNodes - 1, "\"");
    }
    for (int i = 0; i < bundle->services_size(); ++i) {
      const std::string& instance = bundle->services(i);
      const Path place = path.Field("services").At(i);
      if (auto why = ExplainMissingInstance(validation, instance)) {
        validation.Add(place, *std::move(why));
        continue;
      }
      const auto [it, inserted] = alias_of.emplace(instance, alias);
      if (inserted) continue;
      validation.Add(place, Quoted(instance), " is already in the bundle of ",
                     Quoted(it->second), "; remove one");
    }
  }
}

// Matches the glob's service part only once, because names and globs may be
// long. Wildcards do not match the '/' between the parts.
bool MatchesAnyInstance(const TestValidation& validation,
                        const std::string& glob) {
  const size_t slash = glob.find('/');
  if (slash == std::string::npos) return false;
  const std::string service_glob = glob.substr(0, slash);
  const std::string place_glob = glob.substr(slash);
  for (const ServiceSpec& service : validation.test().services()) {
    const auto found = validation.FindService(service.name());
    if (!found.has_value() || service.name().size() > kMaxNameLength ||
        !GlobMatches(service_glob, service.name())) {
      continue;
    }
    for (int number = 0; number < found->grid.Count(); ++number) {
      if (GlobMatches(place_glob, InstanceName("", found->grid, number))) {
        return true;
      }
    }
  }
  return false;
}

// Whether trying every wildcard on every instance is cheap enough.
bool CheckWildcards(const TestValidation& validation, const Path& path) {
  const int64_t instances = validation.InstanceCount();
  if (instances > kMaxInstances) return false;
  int64_t globs = 0;
  for (const auto& [key, constraints] :
       validation.test().service_constraints()) {
    if (IsGlob(key)) ++globs;
  }
  if (globs * instances <= kMaxConditionsTried) return true;
  validation.Add(path, globs, " names with wildcards and ", instances,
                 " instances are too many to try each combination: more than ",
                 kMaxConditionsTried, "; use fewer wildcards");
  return false;
}

void CheckConstraints(const TestValidation& validation) {
  const Path all = validation.path().Field("service_constraints");
  const bool try_wildcards = CheckWildcards(validation, all);
  for (const auto& [key, constraints] :
       Sorted(validation.test().service_constraints())) {
    const Path path = all.At(key);
    if (key.size() > kMaxGlobLength) {
      validation.Add(path, "is longer than ", kMaxGlobLength,
                     " bytes; shorten it");
    } else if (!IsGlob(key)) {
      if (auto why = ExplainMissingInstance(validation, key)) {
        validation.Add(path, *std::move(why));
      }
    } else if (try_wildcards && !MatchesAnyInstance(validation, key)) {
      validation.Add(path,
                     "matches no instance; instances have names such as "
                     "\"service/0\", and '*' does not match '/'");
    }
    ValidateConstraints(path, *constraints, {}, validation.problems());
  }
}

// ---- Lists of constraints ---------------------------------------------------

// Attributes that only instances have, not nodes.
bool IsOfInstances(const std::string& attribute) {
  return attribute == "index" || attribute == "x_index" ||
         attribute == "y_index" || attribute == "z_index";
}

// Other attributes belong to nodes and are known when the test is placed.
void CheckAttribute(const Path& path, const std::string& name,
                    const std::vector<std::string>& attributes,
                    Problems& problems) {
  if (attributes.empty() || !IsOfInstances(name) ||
      absl::c_linear_search(attributes, name)) {
    return;
  }
  problems.Add(path, "instances of this service have no attribute ",
               Quoted(name), "; ", Suggestion(name, attributes));
}

// Remainders are always below the modulus.
void CheckRemainders(const Path& path, const Constraint& constraint,
                     Problems& problems) {
  if (!IsModulo(constraint) || constraint.modulus() < 1) return;
  for (int i = 0; i < constraint.int64_values_size(); ++i) {
    CheckRange(path.Field("int64_values").At(i), constraint.int64_values(i), 0,
               constraint.modulus() - 1, problems);
  }
}

void CheckConstraint(const Path& path, const Constraint& constraint,
                     const std::vector<std::string>& attributes,
                     Problems& problems) {
  CheckAttribute(path.Field("attribute_name"), constraint.attribute_name(),
                 attributes, problems);
  CheckRemainders(path, constraint, problems);
  const int values =
      constraint.string_values_size() + constraint.int64_values_size();
  if (IsNegative(constraint) && values > 1) {
    problems.Add(
        path,
        "every attribute differs from at least one of several values; "
        "give one value, and each other one in its own constraint set");
  }
}

}  // namespace

void ValidatePlacement(const TestValidation& validation) {
  CheckBundles(validation);
  CheckConstraints(validation);
}

void ValidateConstraints(const Path& path, const ConstraintList& constraints,
                         const std::vector<std::string>& attributes,
                         Problems& problems) {
  for (int i = 0; i < constraints.constraint_sets_size(); ++i) {
    const ConstraintSet& set = constraints.constraint_sets(i);
    const Path set_path = path.Field("constraint_sets").At(i);
    for (int j = 0; j < set.constraints_size(); ++j) {
      CheckConstraint(set_path.Field("constraints").At(j), set.constraints(j),
                      attributes, problems);
    }
  }
}

}  // namespace distbench::config
