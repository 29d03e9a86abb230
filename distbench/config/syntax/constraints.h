// Conditions on the attributes of nodes and instances.

#ifndef DISTBENCH_CONFIG_SYNTAX_CONSTRAINTS_H_
#define DISTBENCH_CONFIG_SYNTAX_CONSTRAINTS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Name and value of each attribute.
using Attributes = std::map<std::string, std::string>;

// Whether an attribute is as the constraint says for any of its values. An
// attribute that is absent matches nothing, NOT_EQUAL included; neither does
// one that is no integer match an integer value. Remainders are never negative.
bool Matches(const Constraint& constraint, const Attributes& attributes);

// Whether every set has a constraint that matches. An empty list matches; an
// empty set does not.
bool Matches(const ConstraintList& list, const Attributes& attributes);

// Why the list does not match: the first set that fails, and the values that it
// met. Nothing if the list matches.
std::optional<std::string> ExplainMismatch(const ConstraintList& list,
                                           const Attributes& attributes);

// The constraint for people to read, such as `rack = "a" or "b"`.
std::string ToString(const Constraint& constraint);

// Whether a key of service_constraints has wildcards: '*', '?' or '['.
bool IsGlob(absl::string_view key);

// Whether a glob matches an instance's name. Wildcards do not match '/'.
bool GlobMatches(const std::string& glob, const std::string& instance);

// The constraints of an instance: those under its own name, or else those of
// every glob that matches, in order of their keys, all of which must hold.
// Points into test.
std::vector<const ConstraintList*> ConstraintsOf(
    const DistributedSystemDescription& test, const std::string& instance);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_SYNTAX_CONSTRAINTS_H_
