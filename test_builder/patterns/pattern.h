// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The patterns (pattern.proto), and what they make of their parameters. To add
// one, write its file and list it in patterns.cc, or in a product's plugin.cc.
// The command line, its checks and its help follow from that.

#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_PATTERN_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_PATTERN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.pb.h"

namespace distbench::test_builder {

struct Traffic {
  std::string alias;
  std::string name_suffix;
  DistributedSystemDescription body;
};

// Builds the traffic. `values` are those of the pattern's parameters and of
// CommonParameters(). The error says which values are incompatible, and what
// would be right.
absl::StatusOr<Traffic> BuildTraffic(const Pattern& pattern,
                                     const ParameterValues& values);

// Adds the values that a pattern's forms have besides those of its parameters
// and of its cases, which `derived` has already. Errors as of BuildTraffic().
using DeriveFunction = absl::Status (*)(const ParameterValues& values,
                                        ValueMap& derived);

// The function of derived_values.cc that patterns name as `derive`; null if
// there is none.
DeriveFunction FindDeriveFunction(absl::string_view name);

// What a product adds with base::Plugin<test_builder::PatternText> in its
// plugin.cc: a file like those of this folder.
struct PatternText {
  absl::string_view yaml;
};

// In the order in which the help lists them, those of products last, and with
// all that their parameters take from shared ones.
const std::vector<Pattern>& AllPatterns();

// Their names.
std::vector<std::string> PatternNames();

// Returns null if there is no such pattern.
const Pattern* FindPattern(absl::string_view name);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_PATTERN_H_
