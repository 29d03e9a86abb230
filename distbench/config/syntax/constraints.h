// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Constraints on the attributes of nodes and instances.

#ifndef DISTBENCH_CONFIG_SYNTAX_CONSTRAINTS_H_
#define DISTBENCH_CONFIG_SYNTAX_CONSTRAINTS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Maps attribute names to values.
using Attributes = std::map<std::string, std::string>;

// Whether the relation is about remainders, or says that values differ.
bool IsModulo(const Constraint& constraint);
bool IsNegative(const Constraint& constraint);

// Whether the attribute satisfies the constraint for any of the constraint's
// values. An absent attribute matches nothing, not even NOT_EQUAL. An attribute
// that is not an integer matches no integer value. Remainders are never
// negative.
bool Matches(const Constraint& constraint, const Attributes& attributes);

// Whether every set has a constraint that matches. An empty list matches; an
// empty set does not.
bool Matches(const ConstraintList& list, const Attributes& attributes);

// Explains why the list does not match: the first set that fails, and the
// actual values. Returns nothing if the list matches.
std::optional<std::string> ExplainMismatch(const ConstraintList& list,
                                           const Attributes& attributes);

// Formats a constraint for users, for example `rack = "a" or "b"`.
std::string ToString(const Constraint& constraint);

// Whether a key of service_constraints contains wildcards: '*', '?' or '['.
bool IsGlob(absl::string_view key);

// Whether a glob matches an instance name. Wildcards do not match '/'.
bool GlobMatches(const std::string& glob, const std::string& instance);

// The constraints of an instance: those listed under its name, otherwise those
// of every matching glob, in the order of the keys. All of them must hold. The
// pointers point into `test`.
std::vector<const ConstraintList*> ConstraintsOf(
    const DistributedSystemDescription& test, const std::string& instance);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_SYNTAX_CONSTRAINTS_H_
