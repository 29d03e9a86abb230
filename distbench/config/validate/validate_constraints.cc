#include <string>
#include <vector>

#include "absl/algorithm/container.h"
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

// Other attributes belong to nodes and are known when the test is placed.
void CheckAttribute(const Path& path, const std::string& name,
                    const std::vector<std::string>& attributes,
                    Problems& problems) {
  if (attributes.empty() || !IsOfInstances(name) ||
      absl::c_linear_search(attributes, name)) {
    return;
  }
  problems.Add(path,
               absl::StrCat("instances of this service have no attribute ",
                            Quoted(name), "; ", Suggestion(name, attributes)));
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
