// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/syntax/constraints.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {
namespace {

// value modulo modulus, in [0, modulus).
int64_t Remainder(int64_t value, int64_t modulus) {
  const int64_t remainder = value % modulus;
  return remainder < 0 ? remainder + modulus : remainder;
}

bool IntegerMatches(const Constraint& constraint, int64_t attribute,
                    int64_t value) {
  if (constraint.relation() == Constraint::UNKNOWN) return false;
  if (IsModulo(constraint)) {
    // Remainders are undefined for a modulus below 1, so nothing can match.
    if (constraint.modulus() < 1) return false;
    attribute = Remainder(attribute, constraint.modulus());
  }
  return (attribute == value) != IsNegative(constraint);
}

bool StringMatches(const Constraint& constraint, const std::string& attribute,
                   const std::string& value) {
  return constraint.relation() != Constraint::UNKNOWN &&
         !IsModulo(constraint) &&
         (attribute == value) != IsNegative(constraint);
}

bool SetMatches(const ConstraintSet& set, const Attributes& attributes) {
  return std::any_of(set.constraints().begin(), set.constraints().end(),
                     [&](const Constraint& constraint) {
                       return Matches(constraint, attributes);
                     });
}

std::string RelationText(const Constraint& constraint) {
  if (constraint.relation() == Constraint::UNKNOWN) return " (no relation) ";
  return absl::StrCat(
      IsModulo(constraint) ? absl::StrCat(" % ", constraint.modulus()) : "",
      IsNegative(constraint) ? " != " : " = ");
}

// The values of the attributes that the set refers to.
std::string ActualValues(const ConstraintSet& set,
                         const Attributes& attributes) {
  std::vector<std::string> values;
  for (const Constraint& constraint : set.constraints()) {
    const std::string& name = constraint.attribute_name();
    const auto it = attributes.find(name);
    std::string value = it == attributes.end()
                            ? absl::StrCat("there is no ", name)
                            : absl::StrCat(name, " is ", Quoted(it->second));
    if (std::find(values.begin(), values.end(), value) == values.end()) {
      values.push_back(std::move(value));
    }
  }
  return absl::StrJoin(values, ", ");
}

}  // namespace

bool IsModulo(const Constraint& constraint) {
  return constraint.relation() == Constraint::MODULO_EQUAL ||
         constraint.relation() == Constraint::MODULO_NOT_EQUAL;
}

bool IsNegative(const Constraint& constraint) {
  return constraint.relation() == Constraint::NOT_EQUAL ||
         constraint.relation() == Constraint::MODULO_NOT_EQUAL;
}

bool Matches(const Constraint& constraint, const Attributes& attributes) {
  const auto it = attributes.find(constraint.attribute_name());
  if (it == attributes.end()) return false;
  for (const std::string& value : constraint.string_values()) {
    if (StringMatches(constraint, it->second, value)) return true;
  }
  int64_t attribute;
  if (!absl::SimpleAtoi(it->second, &attribute)) return false;
  for (const int64_t value : constraint.int64_values()) {
    if (IntegerMatches(constraint, attribute, value)) return true;
  }
  return false;
}

bool Matches(const ConstraintList& list, const Attributes& attributes) {
  return std::all_of(
      list.constraint_sets().begin(), list.constraint_sets().end(),
      [&](const ConstraintSet& set) { return SetMatches(set, attributes); });
}

std::optional<std::string> ExplainMismatch(const ConstraintList& list,
                                           const Attributes& attributes) {
  for (int i = 0; i < list.constraint_sets_size(); ++i) {
    const ConstraintSet& set = list.constraint_sets(i);
    if (SetMatches(set, attributes)) continue;
    if (set.constraints().empty()) {
      return absl::StrCat("constraint_sets[", i, "] is empty");
    }
    return absl::StrCat(
        "needs ",
        absl::StrJoin(set.constraints(), " or ",
                      [](std::string* out, const Constraint& constraint) {
                        absl::StrAppend(out, ToString(constraint));
                      }),
        ", but ", ActualValues(set, attributes));
  }
  return std::nullopt;
}

std::string ToString(const Constraint& constraint) {
  std::vector<std::string> values;
  for (const std::string& value : constraint.string_values()) {
    values.push_back(Quoted(value));
  }
  for (const int64_t value : constraint.int64_values()) {
    values.push_back(absl::StrCat(value));
  }
  return absl::StrCat(constraint.attribute_name(), RelationText(constraint),
                      absl::StrJoin(values, " or "));
}

bool IsGlob(absl::string_view key) {
  return key.find_first_of("*?[") != absl::string_view::npos;
}

bool GlobMatches(const std::string& glob, const std::string& instance) {
  return fnmatch(glob.c_str(), instance.c_str(), FNM_PATHNAME) == 0;
}

std::vector<const ConstraintList*> ConstraintsOf(
    const DistributedSystemDescription& test, const std::string& instance) {
  const auto& all = test.service_constraints();
  if (const auto it = all.find(instance); it != all.end()) {
    return {&it->second};
  }
  std::map<absl::string_view, const ConstraintList*> matching;
  for (const auto& [key, list] : all) {
    if (IsGlob(key) && GlobMatches(key, instance)) matching[key] = &list;
  }
  std::vector<const ConstraintList*> constraints;
  for (const auto& [key, list] : matching) constraints.push_back(list);
  return constraints;
}

}  // namespace distbench::config
