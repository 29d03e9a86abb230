#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

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
      validation.Add(
          path, absl::StrCat(Quoted(alias),
                             " is not a node; nodes are called \"node0\" to "
                             "\"node",
                             kMaxNodes - 1, "\""));
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
      validation.Add(
          place, absl::StrCat(Quoted(instance), " is already in the bundle of ",
                              Quoted(it->second), "; remove one"));
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
  validation.Add(
      path, absl::StrCat(globs, " names with wildcards and ", instances,
                         " instances are too many to try each combination: "
                         "more than ",
                         kMaxConditionsTried, "; use fewer wildcards"));
  return false;
}

void CheckConstraints(const TestValidation& validation) {
  const Path all = validation.path().Field("service_constraints");
  const bool try_wildcards = CheckWildcards(validation, all);
  for (const auto& [key, constraints] :
       Sorted(validation.test().service_constraints())) {
    const Path path = all.At(key);
    if (key.size() > kMaxGlobLength) {
      validation.Add(path, absl::StrCat("is longer than ", kMaxGlobLength,
                                        " bytes; shorten it"));
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

}  // namespace

void ValidatePlacement(const TestValidation& validation) {
  CheckBundles(validation);
  CheckConstraints(validation);
}

}  // namespace distbench::config
