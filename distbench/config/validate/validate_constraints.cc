#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

// Attributes that only instances have, not nodes.
bool IsOfInstances(const std::string& attribute) {
  return attribute == "index" || attribute == "x_index" ||
         attribute == "y_index" || attribute == "z_index";
}

void CheckAttribute(const Path& path, const std::string& name,
                    const std::vector<std::string>& attributes,
                    Problems& problems) {
  if (name.empty()) {
    problems.Add(path, "is missing; name the attribute to look at");
    return;
  }
  // Other attributes belong to nodes and are known when the test is placed.
  if (attributes.empty() || !IsOfInstances(name) ||
      std::find(attributes.begin(), attributes.end(), name) !=
          attributes.end()) {
    return;
  }
  problems.Add(path,
               absl::StrCat("instances of this service have no attribute ",
                            Quoted(name), "; ", Suggestion(name, attributes)));
}

void CheckModulus(const Path& path, const Constraint& constraint,
                  Problems& problems) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  if (!IsModulo(constraint)) {
    if (constraint.has_modulus()) {
      problems.Add(path.Field("modulus"),
                   "has no effect with this relation; remove it or use a "
                   "MODULO relation");
    }
    return;
  }
  if (constraint.modulus() < 1) {
    CheckRange(path.Field("modulus"), constraint.modulus(), 1, kMax, problems);
    return;
  }
  if (!constraint.string_values().empty()) {
    problems.Add(path.Field("string_values"),
                 "a MODULO relation compares integers; use int64_values");
  }
  for (int i = 0; i < constraint.int64_values_size(); ++i) {
    // Remainders are always in this range.
    CheckRange(path.Field("int64_values").At(i), constraint.int64_values(i), 0,
               constraint.modulus() - 1, problems);
  }
}

void CheckConstraint(const Path& path, const Constraint& constraint,
                     const std::vector<std::string>& attributes,
                     Problems& problems) {
  CheckAttribute(path.Field("attribute_name"), constraint.attribute_name(),
                 attributes, problems);
  if (constraint.relation() == Constraint::UNKNOWN) {
    problems.Add(path.Field("relation"),
                 "is missing; must be EQUAL, NOT_EQUAL, MODULO_EQUAL or "
                 "MODULO_NOT_EQUAL");
    return;
  }
  CheckModulus(path, constraint, problems);
  const int values =
      constraint.string_values_size() + constraint.int64_values_size();
  if (values == 0) {
    problems.Add(path,
                 "has no values to compare with; give string_values or "
                 "int64_values");
  }
  if (IsNegative(constraint) && values > 1) {
    problems.Add(
        path,
        "every attribute differs from at least one of several values; "
        "give one value, and each other one in its own constraint set");
  }
}

}  // namespace

void ValidateConstraints(const Path& path, const ConstraintList& constraints,
                         const std::vector<std::string>& attributes,
                         Problems& problems) {
  for (int i = 0; i < constraints.constraint_sets_size(); ++i) {
    const ConstraintSet& set = constraints.constraint_sets(i);
    const Path set_path = path.Field("constraint_sets").At(i);
    if (set.constraints().empty()) {
      problems.Add(set_path,
                   "is empty, so nothing satisfies it; add a constraint or "
                   "remove the set");
    }
    for (int j = 0; j < set.constraints_size(); ++j) {
      CheckConstraint(set_path.Field("constraints").At(j), set.constraints(j),
                      attributes, problems);
    }
  }
}

}  // namespace distbench::config
